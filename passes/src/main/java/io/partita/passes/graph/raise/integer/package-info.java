/** Products of dequantized values as products of their integers. */
package io.partita.passes.graph.raise.integer;
