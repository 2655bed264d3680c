package io.partita.ir.eval;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;

/** Long keys in the order of a tensor's elements: NaN is last, and both zeros are equal. */
final class SortKeys {
  /** The key of a NaN. */
  static final long NAN = Double.doubleToLongBits(Double.NaN);

  private SortKeys() {}

  static long[] of(Tensor x) {
    if (!x.element().isFloat()) {
      long[] keys = x.longs().clone();
      if (x.element() == ElementType.U64) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] ^= Long.MIN_VALUE;
        }
      }
      return keys;
    }
    long[] keys = new long[x.size()];
    for (int i = 0; i < keys.length; i++) {
      // Adding 0 makes -0 equal to 0; the order of the bits of negative numbers is reversed.
      long bits = Double.doubleToLongBits(x.getDouble(i) + 0.0);
      keys[i] = bits ^ bits >> 63 & Long.MAX_VALUE;
    }
    return keys;
  }
}
