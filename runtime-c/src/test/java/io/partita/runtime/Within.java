package io.partita.runtime;

import io.partita.ir.tensor.Tensor;

/** Compares floats with exact values. */
final class Within {
  /** Half the distance of adjacent floats at 1. */
  static final double U = 0x1p-24;

  /** Half the smallest float. */
  static final double TINY = 0x1p-150;

  /** The largest error. */
  @FunctionalInterface
  interface Bound {
    double at(int index, double exact);
  }

  private Within() {}

  /** Checks the first result of a call, with and without contraction. */
  static void verify(KernelCall call, Kernels kernels, double[] exact, Bound bound) {
    verify(call.toString(), kernels.result(call), exact, bound);
    verify(call + " contracted", kernels.contracted(call).getFirst(), exact, bound);
  }

  /** Exact values beyond the largest float are infinite. */
  static void verify(String what, Tensor actual, double[] exact, Bound bound) {
    float[] values = actual.floats();
    if (values.length != exact.length) {
      throw new AssertionError(what + ": " + values.length + " results, not " + exact.length);
    }
    for (int i = 0; i < values.length; i++) {
      double most = bound.at(i, exact[i]);
      boolean near =
          Float.compare(values[i], (float) exact[i]) == 0
              || Double.isNaN(exact[i]) && Float.isNaN(values[i])
              || Math.abs(values[i] - exact[i]) <= most
              || Float.isInfinite(values[i])
                  && Math.signum(values[i]) == Math.signum(exact[i])
                  && Math.abs(exact[i]) + most >= Float.MAX_VALUE;
      if (!near) {
        throw new AssertionError(
            "%s: element %d is %s and not %s: off by %.3g, at most %.3g allowed"
                .formatted(what, i, values[i], exact[i], Math.abs(values[i] - exact[i]), most));
      }
    }
  }
}
