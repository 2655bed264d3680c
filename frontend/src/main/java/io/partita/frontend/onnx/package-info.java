/** The import of ONNX models into the graph dialect. */
package io.partita.frontend.onnx;
