package io.partita.passes.schedule.lower;

import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * A tensor at home as a loop sees it.
 *
 * @param shape static extents; none is 0
 * @param strides elements from one index to the next, for each dimension; the last one is 1 unless
 *     its extent is 1
 */
public record TensorView(ElementType element, List<Long> shape, List<Long> strides) {
  public TensorView {
    shape = List.copyOf(shape);
    strides = List.copyOf(strides);
  }

  /** How many there are. */
  public long elements() {
    return shape.stream().reduce(1L, Math::multiplyExact);
  }
}
