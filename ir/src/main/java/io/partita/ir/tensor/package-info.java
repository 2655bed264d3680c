/** Tensor data: typed, row-major, on the heap or mapped from a file. */
package io.partita.ir.tensor;
