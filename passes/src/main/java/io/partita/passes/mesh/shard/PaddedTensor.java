package io.partita.passes.mesh.shard;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;

/** A tensor that is padded with zeros at the end of a dimension. */
final class PaddedTensor {
  private PaddedTensor() {}

  /**
   * Creates the tensor; it is copied when the elements are read.
   *
   * @param type the type of the data with a larger extent of {@code dim}
   */
  static Tensor of(Tensor data, TensorType type, int dim) {
    if (data.element().bits() % 8 != 0) {
      throw new IllegalArgumentException("elements of " + data.element());
    }
    return Tensor.deferred(type, () -> copy(data, type, dim));
  }

  private static MemorySegment copy(Tensor data, TensorType type, int dim) {
    long line = data.element().bits() / 8;
    Shape shape = data.shape();
    for (int inner = dim; inner < shape.rank(); inner++) {
      line *= shape.extent(inner);
    }
    long padded = line / Math.max(1, shape.extent(dim)) * type.shape().extent(dim);
    MemorySegment copy = MemorySegment.ofArray(new byte[Math.toIntExact(type.bytes())]);
    for (long from = 0, to = 0;
        line > 0 && from < data.bytes().byteSize();
        from += line, to += padded) {
      MemorySegment.copy(data.bytes(), from, copy, to, line);
    }
    return copy;
  }
}
