package io.partita.runtime;

import io.partita.ir.type.Shape;
import java.util.Arrays;

/** Extents and strides of six axes in the format of kernels, with unused ones first. */
final class Geometry {
  private static final int AXES = 6;

  private Geometry() {}

  static long[] extents(Shape shape) {
    return padded(shape.extents(), 1);
  }

  /** Returns row-major strides of an operand that broadcasts to a result. */
  static long[] strides(Shape operand, Shape result) {
    long[] own = operand.strides();
    long[] strides = new long[result.rank()];
    for (int axis = 0; axis < own.length; axis++) {
      int to = result.rank() - own.length + axis;
      strides[to] = operand.extent(axis) == 1 ? 0 : own[axis];
    }
    return padded(strides, 0);
  }

  static long[] strides(Shape shape) {
    return strides(shape, shape);
  }

  static long[] padded(long[] values, long unused) {
    long[] all = new long[AXES];
    Arrays.fill(all, unused);
    System.arraycopy(values, 0, all, AXES - values.length, values.length);
    return all;
  }
}
