/** Writes ONNX models of known shapes with seeded weights. */
package io.partita.zoo;
