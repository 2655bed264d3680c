/** Attention and its masks. */
package io.partita.passes.graph.raise.attention;
