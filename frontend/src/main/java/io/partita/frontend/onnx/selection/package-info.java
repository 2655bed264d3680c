/** Rows that a mask selects: computed as all rows with the mask beside them. */
package io.partita.frontend.onnx.selection;
