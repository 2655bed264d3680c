/** Rotary position embeddings. */
package io.partita.passes.graph.raise.rotary;
