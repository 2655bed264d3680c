package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.Packing;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * A view of a tensor in the home memory.
 *
 * @param packing how elements are stored
 * @param shape the static extents; none is 0
 * @param strides the strides of dimensions in elements; the last one is 1 unless its extent is 1
 */
public record TensorView(
    ElementType element, Packing packing, List<Long> shape, List<Long> strides) {
  public TensorView {
    shape = List.copyOf(shape);
    strides = List.copyOf(strides);
  }

  /** Creates a view of elements that are one after the other. */
  TensorView(ElementType element, List<Long> shape, List<Long> strides) {
    this(element, Packing.PLAIN, shape, strides);
  }

  /** Returns the view that kernels have of 16 bits or of blocks in pages, which they unpack. */
  TensorView unpacked() {
    return isPacked() ? new TensorView(ElementType.F32, shape, strides) : this;
  }

  /** Whether kernels on pages unpack the elements. */
  boolean isPacked() {
    return element == ElementType.BF16 || packing != Packing.PLAIN;
  }

  /** Returns the number of elements. */
  public long elements() {
    return shape.stream().reduce(1L, Math::multiplyExact);
  }
}
