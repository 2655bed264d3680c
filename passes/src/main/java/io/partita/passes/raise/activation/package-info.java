/** Activation functions. */
package io.partita.passes.raise.activation;
