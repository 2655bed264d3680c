/** ONNX files to the graph dialect: reading, shape inference, raising. */
package io.partita.frontend;
