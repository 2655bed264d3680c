/** Embeddings of tokens and image patches. */
package io.partita.passes.graph.raise.embedding;
