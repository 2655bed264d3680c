/** Benchmarks of Partita and its programs, compared with ONNX Runtime where possible. */
package io.partita.benchmarks;
