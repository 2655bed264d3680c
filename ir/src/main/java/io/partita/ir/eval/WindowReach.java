package io.partita.ir.eval;

import io.partita.ir.op.Window;
import io.partita.ir.type.Shape;
import java.util.function.IntConsumer;

/**
 * The data under a sliding window at each of its positions, and how much padding there is. Takes
 * time by the data that the window meets, since a window may be far larger.
 */
final class WindowReach {
  private final Axis[] axes;

  /** The places along the last axes before the one at an index, so many for each of its places. */
  private final int[] inner;

  /**
   * What the window meets along an axis, by its place there: the first position in the data, the
   * distance of positions, how many are in the data, and how many in the data or the padding.
   */
  private record Axis(int[] first, int step, int[] inData, long[] counted, int stride) {}

  /**
   * @param spatial the extents over which it slides
   * @param places the extents of its positions
   */
  WindowReach(Window window, Shape spatial, Shape places) {
    int rank = places.rank();
    this.axes = new Axis[rank];
    this.inner = new int[rank];
    int within = 1;
    for (int axis = rank - 1; axis >= 0; axis--) {
      axes[axis] = axis(window, spatial, Math.toIntExact(places.extent(axis)), axis);
      inner[axis] = within;
      within = Math.multiplyExact(within, Math.toIntExact(places.extent(axis)));
    }
  }

  private static Axis axis(Window window, Shape spatial, int places, int axis) {
    long limit = spatial.extent(axis);
    long dilation = window.dilations().get(axis);
    long kernel = window.kernel().get(axis);
    int[] first = new int[places];
    int[] inData = new int[places];
    long[] counted = new long[places];
    for (int place = 0; place < places; place++) {
      long start = place * window.strides().get(axis) - window.low().get(axis);
      long from = Math.min(kernel, steps(-start, dilation));
      long to = Math.min(kernel, steps(limit - start, dilation));
      if (from < to) {
        first[place] = Math.toIntExact(start + from * dilation);
        inData[place] = Math.toIntExact(to - from);
      }
      counted[place] = Math.min(kernel, steps(limit + window.high().get(axis) - start, dilation));
    }
    // A step beyond the data is never taken.
    int step = (int) Math.min(dilation, limit);
    return new Axis(first, step, inData, counted, Math.toIntExact(spatial.strides()[axis]));
  }

  /**
   * Returns the number of elements of the window that begin less than a distance after the first.
   */
  private static long steps(long distance, long dilation) {
    return distance <= 0 ? 0 : Math.ceilDiv(distance, dilation);
  }

  private int along(int axis, int place) {
    return place / inner[axis] % axes[axis].first.length;
  }

  /** Visits the row-major offsets of the data under the window at a place, in order. */
  void each(int place, IntConsumer visitor) {
    each(place, 0, 0, visitor);
  }

  private void each(int place, int number, int offset, IntConsumer visitor) {
    if (number == axes.length) {
      visitor.accept(offset);
      return;
    }
    Axis axis = axes[number];
    int at = along(number, place);
    for (int i = 0; i < axis.inData[at]; i++) {
      int position = axis.first[at] + i * axis.step;
      each(place, number + 1, offset + position * axis.stride, visitor);
    }
  }

  /** Returns the elements of the window at a place that are in the data. */
  long inData(int place) {
    long count = 1;
    for (int axis = 0; axis < axes.length; axis++) {
      count *= axes[axis].inData[along(axis, place)];
    }
    return count;
  }

  /** Returns those in the data or the padding: others are beyond, if places are rounded up. */
  double counted(int place) {
    double count = 1;
    for (int axis = 0; axis < axes.length; axis++) {
      count *= axes[axis].counted[along(axis, place)];
    }
    return count;
  }
}
