/** Writes quantized ONNX models: quantize and dequantize nodes around products. */
package io.partita.frontend.onnx.quantize;
