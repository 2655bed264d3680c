package io.partita.passes.program.localize;

import io.partita.ir.mesh.Layout;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * A box of elements of a whole tensor: in each dimension from {@code from}, inclusive, to {@code
 * to}, exclusive. Boxes are nonempty; an empty part has no box.
 */
record Box(List<Long> from, List<Long> to) {
  Box {
    from = List.copyOf(from);
    to = List.copyOf(to);
  }

  static Box of(TensorType type) {
    List<Long> to = new ArrayList<>();
    List<Long> from = new ArrayList<>();
    for (long extent : type.shape().extents()) {
      from.add(0L);
      to.add(extent);
    }
    return new Box(from, to);
  }

  /** Returns the part of a tensor that a device holds; null if it is empty. */
  static Box of(TensorType type, Layout layout, int device) {
    if (!layout.holds(device)) {
      return null;
    }
    List<Long> from = new ArrayList<>();
    List<Long> to = new ArrayList<>();
    TensorType local = layout.localType(type, device);
    for (int dim = 0; dim < type.rank(); dim++) {
      from.add(layout.from(device, dim));
      to.add(from.getLast() + local.dim(dim).value());
    }
    return nonEmpty(from, to);
  }

  private static Box nonEmpty(List<Long> from, List<Long> to) {
    for (int dim = 0; dim < from.size(); dim++) {
      if (from.get(dim) >= to.get(dim)) {
        return null;
      }
    }
    return new Box(from, to);
  }

  /** Returns the intersection; null if it is empty. */
  static Box intersection(Box left, Box right) {
    if (left == null || right == null) {
      return null;
    }
    List<Long> from = new ArrayList<>();
    List<Long> to = new ArrayList<>();
    for (int dim = 0; dim < left.rank(); dim++) {
      from.add(Math.max(left.from(dim), right.from(dim)));
      to.add(Math.min(left.to(dim), right.to(dim)));
    }
    return nonEmpty(from, to);
  }

  /** Returns the bounding box of both; null stands for an empty part. */
  static Box hull(Box left, Box right) {
    if (left == null || right == null) {
      return left == null ? right : left;
    }
    List<Long> from = new ArrayList<>();
    List<Long> to = new ArrayList<>();
    for (int dim = 0; dim < left.rank(); dim++) {
      from.add(Math.min(left.from(dim), right.from(dim)));
      to.add(Math.max(left.to(dim), right.to(dim)));
    }
    return new Box(from, to);
  }

  static long elements(Box box) {
    return box == null ? 0 : box.shape().elements();
  }

  int rank() {
    return from.size();
  }

  long from(int dim) {
    return from.get(dim);
  }

  long to(int dim) {
    return to.get(dim);
  }

  long size(int dim) {
    return to.get(dim) - from.get(dim);
  }

  /** Whether {@code outer} contains {@code inner}; null stands for an empty part. */
  static boolean contains(Box outer, Box inner) {
    return inner == null || inner.equals(intersection(outer, inner));
  }

  Shape shape() {
    return Shape.of(java.util.stream.IntStream.range(0, rank()).mapToLong(this::size).toArray());
  }

  Box with(int dim, long first, long end) {
    List<Long> changedFrom = new ArrayList<>(from);
    List<Long> changedTo = new ArrayList<>(to);
    changedFrom.set(dim, first);
    changedTo.set(dim, end);
    return new Box(changedFrom, changedTo);
  }
}
