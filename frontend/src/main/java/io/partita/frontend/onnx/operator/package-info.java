/** Importers of ONNX operators, grouped by concept. */
package io.partita.frontend.onnx.operator;
