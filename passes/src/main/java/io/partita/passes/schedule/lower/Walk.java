package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileExpression;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Tensors that a loop walks through together, element by element of the result: neighbouring
 * dimensions are one axis wherever no tensor's strides tell them apart.
 *
 * <p>Tiles lie in L1 without gaps; where a tensor broadcasts along an axis, its tile has no such
 * dimension and the stride is 0.
 */
final class Walk {
  /** As {@code PARTITA_AXES}. */
  private static final int AXES = 6;

  private final List<Long> extents = new ArrayList<>();
  private final List<List<Long>> strides = new ArrayList<>();

  private Walk() {}

  /**
   * @param shape of the result
   * @param views each of a shape that broadcasts to it
   */
  static Walk of(List<Long> shape, List<TensorView> views) {
    Walk walk = new Walk();
    views.forEach(view -> walk.strides.add(new ArrayList<>()));
    for (int dimension = 0; dimension < shape.size(); dimension++) {
      long extent = shape.get(dimension);
      if (extent > 1) {
        walk.add(extent, strides(views, shape.size() - dimension));
      }
    }
    if (walk.extents.isEmpty()) {
      walk.add(1, Collections.nCopies(views.size(), 0L));
    }
    return walk;
  }

  /** Of each view in the dimension that is so many from the end. */
  private static List<Long> strides(List<TensorView> views, int fromEnd) {
    List<Long> strides = new ArrayList<>();
    for (TensorView view : views) {
      int own = view.shape().size() - fromEnd;
      strides.add(own < 0 || view.shape().get(own) == 1 ? 0 : view.strides().get(own));
    }
    return strides;
  }

  private void add(long extent, List<Long> inner) {
    int last = extents.size() - 1;
    boolean merges = last >= 0;
    for (int view = 0; merges && view < inner.size(); view++) {
      merges = strides.get(view).get(last) == inner.get(view) * extent;
    }
    if (merges) {
      extents.set(last, extents.get(last) * extent);
    } else {
      extents.add(extent);
    }
    for (int view = 0; view < inner.size(); view++) {
      if (merges) {
        strides.get(view).set(last, inner.get(view));
      } else {
        strides.get(view).add(inner.get(view));
      }
    }
  }

  /** The number of the first axis is 0. The kernel doesn't walk those before its six. */
  List<TileSpace.Axis> axes() {
    List<TileSpace.Axis> axes = new ArrayList<>();
    for (int axis = 0; axis < extents.size(); axis++) {
      long extent = extents.get(axis);
      long largest = axis < extents.size() - AXES ? 1 : extent;
      axes.add(new TileSpace.Axis("i" + axis, extent, 1, largest, false, Optional.empty()));
    }
    return axes;
  }

  /** The part of a view that a tile works on. */
  List<BoxDimension> box(int view) {
    List<BoxDimension> box = outerBox(view);
    if (box.isEmpty() || box.getLast().stride() != 1) {
      box.add(BoxDimension.whole(1, 1));
    }
    return box;
  }

  /** The same for a view whose indices stand for whole rows, which are contiguous. */
  List<BoxDimension> outerBox(int view) {
    List<BoxDimension> box = new ArrayList<>();
    for (int axis = 0; axis < extents.size(); axis++) {
      long stride = strides.get(view).get(axis);
      if (stride != 0) {
        box.add(BoxDimension.along(axis, extents.get(axis), stride));
      }
    }
    return box;
  }

  /** Of a tile, as the kernels' arrays have them: unused ones come first. */
  List<TileExpression> tileExtents() {
    List<TileExpression> sizes = new ArrayList<>();
    for (int axis = first(); axis < extents.size(); axis++) {
      sizes.add(TileExpression.size(axis));
    }
    return padded(sizes, 1);
  }

  /** A view's in its tile, likewise. */
  List<TileExpression> tileStrides(int view) {
    List<TileExpression> tile = new ArrayList<>();
    TileExpression inner = TileExpression.of(1);
    for (int axis = extents.size() - 1; axis >= first(); axis--) {
      boolean broadcasts = strides.get(view).get(axis) == 0;
      tile.addFirst(broadcasts ? TileExpression.of(0) : inner);
      inner = broadcasts ? inner : inner.times(TileExpression.size(axis));
    }
    return padded(tile, 0);
  }

  /** Elements of a tile. */
  TileExpression count() {
    TileExpression count = TileExpression.of(1);
    for (int axis = 0; axis < extents.size(); axis++) {
      count = count.times(TileExpression.size(axis));
    }
    return count;
  }

  private int first() {
    return Math.max(0, extents.size() - AXES);
  }

  /** As long as the arrays of the kernels. */
  static List<TileExpression> padded(List<TileExpression> values, long by) {
    List<TileExpression> all =
        new ArrayList<>(Collections.nCopies(AXES - values.size(), TileExpression.of(by)));
    all.addAll(values);
    return all;
  }
}
