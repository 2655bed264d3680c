/** Computes rows that a mask selects as all rows with the mask. */
package io.partita.frontend.onnx.selection;
