package io.partita.zoo;

import java.util.List;

/** The description of an f32 initializer, without its elements. */
record Weight(String name, List<Long> shape, Use use, Fill fill) {
  /** The use of a weight in a model. */
  enum Use {
    /** A factor of a matrix product or a convolution. */
    MATRIX,
    /** Looked up by row. */
    TABLE,
    /** A bias or the scale of a norm. */
    VECTOR,
    /** Computed, not learned: not counted as a parameter. */
    BUFFER
  }

  Weight {
    shape = List.copyOf(shape);
  }

  long elements() {
    return shape.stream().reduce(1L, Math::multiplyExact);
  }

  /** Bytes as f32. */
  long bytes() {
    return Math.multiplyExact(elements(), Float.BYTES);
  }
}
