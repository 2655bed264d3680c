package io.partita.passes.schedule.lower;

import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * A view of a tensor in the home memory.
 *
 * @param shape the static extents; none is 0
 * @param strides the strides of dimensions in elements; the last one is 1 unless its extent is 1
 */
public record TensorView(ElementType element, List<Long> shape, List<Long> strides) {
  public TensorView {
    shape = List.copyOf(shape);
    strides = List.copyOf(strides);
  }

  /** Returns the view that kernels have of 16 bits in pages, which they unpack. */
  TensorView unpacked() {
    return element == ElementType.BF16 ? new TensorView(ElementType.F32, shape, strides) : this;
  }

  /** Returns the number of elements. */
  public long elements() {
    return shape.stream().reduce(1L, Math::multiplyExact);
  }
}
