package io.partita.ir.eval;

import io.partita.ir.op.Window;
import io.partita.ir.type.Shape;

/**
 * Where the elements of a sliding window come from.
 *
 * @param window the window
 * @param spatial extents that it slides over
 * @param places extents of its places
 */
record WindowOrigins(Window window, Shape spatial, Shape places) {
  /** In the padding. */
  static final int PADDING = -1;

  /** Beyond the padding, where rounding up the number of places lets the window stick out. */
  static final int OUTSIDE = -2;

  int placeCount() {
    return Math.toIntExact(places.elements());
  }

  /** Elements of the window. */
  int kernelCount() {
    return Math.toIntExact(window.kernel().stream().reduce(1L, Math::multiplyExact));
  }

  /**
   * For the window's element {@code kernel} and the places from {@code from} to {@code to}, the
   * row-major offset of what lies under it, or {@link #PADDING} or {@link #OUTSIDE}.
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

  /** Adds an axis' part of each offset; {@code inner} places make one step along the axis. */
  private void addAxis(int[] origins, int from, int axis, long ahead, int inner) {
    int extent = Math.toIntExact(places.extent(axis));
    long stride = spatial.strides()[axis];
    long limit = spatial.extent(axis);
    for (int i = 0; i < origins.length; i++) {
      long place = (from + i) / inner % extent;
      long position = place * window.strides().get(axis) + ahead;
      if (position < -window.low().get(axis) || position >= limit + window.high().get(axis)) {
        origins[i] = OUTSIDE;
      } else if (position < 0 || position >= limit) {
        origins[i] = Math.min(origins[i], PADDING);
      } else if (origins[i] >= 0) {
        origins[i] += (int) (position * stride);
      }
    }
  }
}
