/** Activation functions. */
package io.partita.passes.graph.raise.activation;
