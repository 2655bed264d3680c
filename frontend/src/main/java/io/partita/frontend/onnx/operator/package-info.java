/** How each ONNX operator becomes operations of the graph dialect, grouped by concept. */
package io.partita.frontend.onnx.operator;
