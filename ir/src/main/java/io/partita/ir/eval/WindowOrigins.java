package io.partita.ir.eval;

import io.partita.ir.op.Window;
import io.partita.ir.type.Shape;

/**
 * The origins in the data of the elements of a sliding window.
 *
 * @param window the window
 * @param spatial the extents over which it slides
 * @param places the extents of its positions
 */
record WindowOrigins(Window window, Shape spatial, Shape places) {
  /** Marks an element that isn't in the data. */
  private static final int OUTSIDE = -1;

  int placeCount() {
    return Math.toIntExact(places.elements());
  }

  /** Returns the elements of the window. */
  int kernelCount() {
    return Math.toIntExact(window.kernel().stream().reduce(1L, Math::multiplyExact));
  }

  /**
   * Returns the row-major offsets of the data under the window's element {@code kernel} at the
   * positions from {@code from} to {@code to}; negative for elements that aren't in the data.
   */
  int[] of(int kernel, int from, int to) {
    int[] origins = new int[to - from];
    long inner = 1;
    int rest = kernel;
    for (int axis = places.rank() - 1; axis >= 0; axis--) {
      int kernelExtent = Math.toIntExact(window.kernel().get(axis));
      long ahead = rest % kernelExtent * window.dilations().get(axis) - window.low().get(axis);
      rest /= kernelExtent;
      addAxis(origins, from, axis, ahead, (int) inner);
      inner *= places.extent(axis);
    }
    return origins;
  }

  /** Adds the part of each offset along an axis; {@code inner} positions form one step. */
  private void addAxis(int[] origins, int from, int axis, long ahead, int inner) {
    int extent = Math.toIntExact(places.extent(axis));
    long stride = spatial.strides()[axis];
    long limit = spatial.extent(axis);
    for (int i = 0; i < origins.length; i++) {
      long place = (from + i) / inner % extent;
      long position = place * window.strides().get(axis) + ahead;
      if (position < 0 || position >= limit) {
        origins[i] = OUTSIDE;
      } else if (origins[i] >= 0) {
        origins[i] += (int) (position * stride);
      }
    }
  }
}
