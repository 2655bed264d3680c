package io.partita.runtime;

import io.partita.ir.tensor.Tensor;

/** Compares tensors bit for bit, except for the bits of NaNs. */
final class Same {
  private Same() {}

  static void verify(String what, Tensor actual, Tensor expected) {
    if (!actual.type().equals(expected.type())) {
      throw new AssertionError(what + ": " + actual.type() + ", not " + expected.type());
    }
    if (actual.equals(expected)) {
      return;
    }
    boolean floats = expected.element().isFloat();
    for (int i = 0; i < expected.size(); i++) {
      boolean same =
          floats
              ? Double.compare(actual.getDouble(i), expected.getDouble(i)) == 0
              : actual.getLong(i) == expected.getLong(i);
      if (!same) {
        throw new AssertionError(
            "%s: element %d is %s and not %s"
                .formatted(
                    what,
                    i,
                    floats ? actual.getDouble(i) : actual.getLong(i),
                    floats ? expected.getDouble(i) : expected.getLong(i)));
      }
    }
  }
}
