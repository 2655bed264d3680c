package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.ArrayList;
import java.util.List;

/**
 * The index space of a result and the strides of tensors along it, with the fewest dimensions:
 * those of extent 1 are omitted, and adjacent ones that are contiguous in all tensors are merged.
 *
 * @param extents the extents, outermost first
 * @param strides the strides of each tensor in elements; 0 if it broadcasts
 * @param source the last original dimension of each dimension
 */
record TileGrid(List<Long> extents, List<List<Long>> strides, List<Integer> source) {
  TileGrid {
    extents = List.copyOf(extents);
    strides = List.copyOf(strides);
    source = List.copyOf(source);
  }

  /**
   * @param tensors the strides of tensors in a space of this shape
   * @param apart the dimensions that are not merged with the previous one
   */
  static TileGrid of(List<Long> shape, List<List<Long>> tensors, List<Integer> apart) {
    List<Long> extents = new ArrayList<>();
    List<List<Long>> strides = new ArrayList<>();
    List<Integer> source = new ArrayList<>();
    tensors.forEach(tensor -> strides.add(new ArrayList<>()));
    boolean isApart = true;
    for (int i = 0; i < shape.size(); i++) {
      isApart |= apart.contains(i);
      long extent = shape.get(i);
      if (extent == 1) {
        continue;
      }
      int last = extents.size() - 1;
      boolean joins = !isApart;
      for (int t = 0; joins && t < tensors.size(); t++) {
        joins = strides.get(t).get(last) == extent * tensors.get(t).get(i);
      }
      if (joins) {
        extents.set(last, extents.get(last) * extent);
        source.set(last, i);
      } else {
        extents.add(extent);
        source.add(i);
      }
      for (int t = 0; t < tensors.size(); t++) {
        if (joins) {
          strides.get(t).set(last, tensors.get(t).get(i));
        } else {
          strides.get(t).add(tensors.get(t).get(i));
        }
      }
      isApart = false;
    }
    return new TileGrid(extents, strides.stream().map(List::copyOf).toList(), source);
  }

  /**
   * Does the same, but keeps the last dimension as it is: that of the columns of pages, or of whole
   * rows.
   */
  static TileGrid ofRows(List<Long> shape, List<List<Long>> tensors) {
    if (shape.isEmpty()) {
      return of(shape, tensors, List.of());
    }
    int last = shape.size() - 1;
    TileGrid rows =
        of(
            shape.subList(0, last),
            tensors.stream().map(each -> each.subList(0, last)).toList(),
            List.of());
    List<Long> extents = new ArrayList<>(rows.extents);
    extents.add(shape.get(last));
    List<Integer> source = new ArrayList<>(rows.source);
    source.add(last);
    List<List<Long>> strides = new ArrayList<>();
    for (int t = 0; t < tensors.size(); t++) {
      List<Long> all = new ArrayList<>(rows.strides.get(t));
      all.add(tensors.get(t).get(last));
      strides.add(all);
    }
    return new TileGrid(extents, strides.stream().map(List::copyOf).toList(), source);
  }

  /** Returns the strides of a tensor that broadcasts to a shape. */
  static List<Long> broadcast(TensorView tensor, List<Long> shape) {
    List<Long> strides = new ArrayList<>();
    int missing = shape.size() - tensor.shape().size();
    for (int i = 0; i < shape.size(); i++) {
      boolean isOne = i < missing || tensor.shape().get(i - missing) == 1;
      strides.add(isOne ? 0 : tensor.strides().get(i - missing));
    }
    return strides;
  }

  int rank() {
    return extents.size();
  }

  /**
   * Makes an axis of each dimension.
   *
   * @param granule the granule of the last one
   * @param walked the number of last dimensions through which the kernel iterates; tiles have
   *     extent 1 along the others
   * @return the numbers of the axes
   */
  List<Integer> axes(TileSpaceBuilder space, String name, long granule, int walked) {
    List<Integer> axes = new ArrayList<>();
    for (int i = 0; i < rank(); i++) {
      long extent = extents.get(i);
      long own = i == rank() - 1 ? Math.min(granule, extent) : 1;
      long largest = i < rank() - walked ? 1 : extent;
      axes.add(
          space.axis(
              new TileSpace.Axis(
                  name + i, extent, own, largest, false, java.util.Optional.empty())));
    }
    return axes;
  }

  /**
   * Returns the part of a tensor along these axes, without dimensions along which it broadcasts,
   * for kernels that take {@link #tileStrides}.
   */
  List<BoxDimension> box(int tensor, List<Integer> axes) {
    return box(tensor, List.of(tensor), axes);
  }

  /**
   * Does the same, without dimensions along which all of {@code alike} broadcast, for kernels that
   * take the same strides for these tensors. If only this tensor broadcasts, its elements are
   * loaded repeatedly.
   */
  List<BoxDimension> box(int tensor, List<Integer> alike, List<Integer> axes) {
    return closed(walked(tensor, alike, axes));
  }

  /** Returns the dimensions of {@link #box(int, List)} that belong to axes. */
  List<BoxDimension> walked(int tensor, List<Integer> axes) {
    return walked(tensor, List.of(tensor), axes);
  }

  private List<BoxDimension> walked(int tensor, List<Integer> alike, List<Integer> axes) {
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < rank(); i++) {
      if (isWalked(alike, i)) {
        box.add(BoxDimension.along(axes.get(i), extents.get(i), strides.get(tensor).get(i)));
      }
    }
    return box;
  }

  /**
   * Returns the part of a tensor along these axes with as many elements as a tile of the whole
   * space, for kernels without strides. If it broadcasts, its elements are loaded repeatedly.
   */
  List<BoxDimension> repeated(int tensor, List<Integer> axes) {
    return closed(all(tensor, axes));
  }

  /** Returns the dimensions of {@link #repeated} that belong to axes. */
  List<BoxDimension> all(int tensor, List<Integer> axes) {
    List<BoxDimension> box = new ArrayList<>();
    for (int i = 0; i < rank(); i++) {
      box.add(BoxDimension.along(axes.get(i), extents.get(i), strides.get(tensor).get(i)));
    }
    return box;
  }

  private boolean isWalked(List<Integer> tensors, int dimension) {
    return tensors.stream().anyMatch(tensor -> strides.get(tensor).get(dimension) != 0);
  }

  /** Ensures that the last dimension has stride 1. */
  static List<BoxDimension> closed(List<BoxDimension> box) {
    if (box.isEmpty() || box.getLast().stride() != 1) {
      List<BoxDimension> longer = new ArrayList<>(box);
      longer.add(BoxDimension.whole(1, 1));
      return longer;
    }
    return box;
  }

  /** Returns the strides of the tensor's tile in the working memory, in elements. */
  List<TileExpression> tileStrides(int tensor, List<Integer> axes) {
    return tileStrides(List.of(tensor), axes);
  }

  /**
   * Does the same for tensors whose tiles have the dimensions along which any of them doesn't
   * broadcast.
   */
  List<TileExpression> tileStrides(List<Integer> alike, List<Integer> axes) {
    List<TileExpression> found = new ArrayList<>();
    TileExpression next = TileExpression.of(1);
    for (int i = rank() - 1; i >= 0; i--) {
      boolean isWalked = isWalked(alike, i);
      found.addFirst(isWalked ? next : TileExpression.of(0));
      next = isWalked ? next.times(TileExpression.size(axes.get(i))) : next;
    }
    return found;
  }

  static List<TileExpression> sizes(List<Integer> axes) {
    return axes.stream().map(TileExpression::size).toList();
  }

  /** Returns the elements of a tile of the whole space. */
  static TileExpression elements(List<Integer> axes) {
    return TileSpaceBuilder.product(sizes(axes));
  }

  /** Returns the last six axes, with unused ones first. */
  static List<TileExpression> six(List<TileExpression> values, long unused) {
    List<TileExpression> found = new ArrayList<>(values);
    while (found.size() < KERNEL_AXES) {
      found.addFirst(TileExpression.of(unused));
    }
    return found.subList(found.size() - KERNEL_AXES, found.size());
  }

  /** {@code PARTITA_AXES}. */
  static final int KERNEL_AXES = 6;
}
