/** Rotary position embeddings. */
package io.partita.passes.raise.rotary;
