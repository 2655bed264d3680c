/** How long Partita and its programs take, beside ONNX Runtime where it can do the same. */
package io.partita.benchmarks;
