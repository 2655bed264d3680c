package io.partita.ir.schedule.kernel;

/** Iterates over strided elements in row-major order. */
final class Grid {
  private Grid() {}

  /** A line of elements along the last axis. */
  @FunctionalInterface
  interface Line {
    /**
     * @param position the row-major index of the first element
     * @param first the strided offset of the first element
     */
    void at(int position, int first, int stride, int count);
  }

  /** A line of elements of two strided tensors. */
  @FunctionalInterface
  interface Lines {
    void at(int first, int stride, int otherFirst, int otherStride, int count);
  }

  static int elements(int[] extents) {
    int elements = 1;
    for (int extent : extents) {
      elements = Math.multiplyExact(elements, extent);
    }
    return elements;
  }

  static void lines(int[] extents, int[] strides, Line line) {
    int[] position = new int[1];
    lines(
        extents,
        strides,
        strides,
        (first, stride, other, otherStride, count) -> {
          line.at(position[0], first, stride, count);
          position[0] += count;
        });
  }

  static void lines(int[] extents, int[] strides, int[] others, Lines line) {
    if (elements(extents) == 0) {
      return;
    }
    int last = extents.length - 1;
    int[] index = new int[extents.length];
    int first = 0;
    int other = 0;
    while (true) {
      line.at(first, strides[last], other, others[last], extents[last]);
      int axis = last - 1;
      while (axis >= 0) {
        first += strides[axis];
        other += others[axis];
        if (++index[axis] < extents[axis]) {
          break;
        }
        first -= extents[axis] * strides[axis];
        other -= extents[axis] * others[axis];
        index[axis--] = 0;
      }
      if (axis < 0) {
        return;
      }
    }
  }
}
