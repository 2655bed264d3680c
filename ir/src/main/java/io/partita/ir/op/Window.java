package io.partita.ir.op;

import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The sliding window of a convolution or pooling over the spatial dimensions, which follow batch
 * and channel. All lists have one entry for each spatial dimension.
 *
 * @param kernel the extents of the window
 * @param strides the steps of the window
 * @param dilations the distance of adjacent elements in the window
 * @param low elements of padding before the first
 * @param high elements of padding after the last
 */
public record Window(
    List<Long> kernel, List<Long> strides, List<Long> dilations, List<Long> low, List<Long> high) {
  public Window {
    kernel = List.copyOf(kernel);
    strides = List.copyOf(strides);
    dilations = List.copyOf(dilations);
    low = List.copyOf(low);
    high = List.copyOf(high);
  }

  public int spatialRank() {
    return kernel.size();
  }

  void write(AttributeWriter attributes) {
    attributes.longs("kernel", kernel);
    attributes.longs("strides", strides);
    attributes.longs("dilations", dilations);
    attributes.longs("low", low);
    attributes.longs("high", high);
  }

  static Window read(AttributeReader attributes) {
    return new Window(
        attributes.longs("kernel"),
        attributes.longs("strides"),
        attributes.longs("dilations"),
        attributes.longs("low"),
        attributes.longs("high"));
  }

  void verify(int rank) {
    int spatial = rank - 2;
    for (List<Long> list : List.of(kernel, strides, dilations, low, high)) {
      Require.that(list.size() == spatial, spatial + " window entries", list);
    }
    for (int axis = 0; axis < spatial; axis++) {
      Require.that(
          kernel.get(axis) >= 1 && strides.get(axis) >= 1 && dilations.get(axis) >= 1,
          "kernel extents, strides and dilations of at least 1",
          this);
    }
  }

  /** Returns the extent of the dilated window on an axis. */
  public long reach(int axis) {
    return Math.addExact(Math.multiplyExact(kernel.get(axis) - 1, dilations.get(axis)), 1);
  }

  /**
   * Returns the number of window positions, for extents that are numbers or multiples of the step.
   * With {@code roundUp}, remaining elements get one more position, if the window begins inside the
   * operand or its lower padding.
   */
  List<Dim> places(Shape spatial, boolean roundUp) {
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < spatial.rank(); axis++) {
      Dim dim = spatial.dim(axis);
      if (!dim.isStatic()) {
        dims.add(openPlaces(dim, axis));
        continue;
      }
      long free = dim.value() + low.get(axis) + high.get(axis) - reach(axis);
      Require.that(free >= 0, "a window that fits the padded operand", this);
      long stride = strides.get(axis);
      long places = (roundUp ? Math.ceilDiv(free, stride) : free / stride) + 1;
      if (roundUp && (places - 1) * stride >= dim.value() + low.get(axis)) {
        places--;
      }
      dims.add(Dim.of(places));
    }
    return dims;
  }

  /**
   * Returns the number of positions if the last one ends with the padded operand, so that nothing
   * is rounded.
   */
  private Dim openPlaces(Dim dim, int axis) {
    Dim free = dim.plus(low.get(axis) + high.get(axis) - reach(axis));
    Dim steps = free.dividedExactlyBy(Dim.of(strides.get(axis)));
    Require.that(steps != null && high.get(axis) < reach(axis), "a static spatial extent", dim);
    return steps.plus(1);
  }
}
