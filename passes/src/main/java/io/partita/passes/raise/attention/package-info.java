/** Attention and its masks. */
package io.partita.passes.raise.attention;
