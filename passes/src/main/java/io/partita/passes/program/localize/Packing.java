package io.partita.passes.program.localize;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Converts between the tensor of a box and a vector of concatenated boxes, each in row-major order.
 * Boxes that are already contiguous need only a reshape, and equal ones along one dimension a
 * transposition.
 */
final class Packing {
  private final GraphBuilder builder;

  Packing(GraphBuilder builder) {
    this.builder = builder;
  }

  /** Returns the part {@code box} of the tensor of {@code held}. */
  Value cut(Value value, Box held, Box box) {
    if (held.equals(box)) {
      return value;
    }
    List<Dim> starts = new ArrayList<>();
    for (int dim = 0; dim < held.rank(); dim++) {
      starts.add(Dim.of(box.from(dim) - held.from(dim)));
    }
    List<Long> steps = Collections.nCopies(held.rank(), 1L);
    return builder.add(new Movement.Slice(starts, box.shape().dims(), steps), value);
  }

  /** Returns the vector of boxes of the tensor of {@code held}. */
  Value pack(Value value, Box held, List<Box> boxes) {
    Box hull = boxes.stream().reduce(null, Box::hull);
    int dim = dimension(hull, boxes);
    if (dim < 0) {
      List<Value> parts = new ArrayList<>();
      boxes.forEach(box -> parts.add(flat(cut(value, held, box))));
      return builder.add(new Movement.Concat(0), parts);
    }
    Value all = cut(value, held, hull);
    if (outer(hull, dim) == 1) {
      return flat(all);
    }
    Shape rows = Shape.of(outer(hull, dim), boxes.size(), inner(hull, dim) / boxes.size());
    Value split = builder.add(new Movement.Reshape(rows), all);
    return flat(builder.add(new Movement.Transpose(List.of(1, 0, 2)), split));
  }

  /** Returns the tensor of {@code whole} from the vector of the boxes of which it consists. */
  Value unpack(Value vector, List<Box> boxes, Box whole) {
    int dim = dimension(whole, boxes);
    if (dim < 0) {
      return joined(pieces(vector, boxes), boxes, 0);
    }
    Value joined = vector;
    if (outer(whole, dim) > 1) {
      Shape rows = Shape.of(boxes.size(), outer(whole, dim), inner(whole, dim) / boxes.size());
      Value split = builder.add(new Movement.Reshape(rows), vector);
      joined = builder.add(new Movement.Transpose(List.of(1, 0, 2)), split);
    }
    return reshaped(joined, whole.shape());
  }

  private Value flat(Value value) {
    return reshaped(value, Shape.of(value.type().shape().elements()));
  }

  private Value reshaped(Value value, Shape shape) {
    return value.type().shape().equals(shape)
        ? value
        : builder.add(new Movement.Reshape(shape), value);
  }

  private static long outer(Box box, int dim) {
    long outer = 1;
    for (int i = 0; i < dim; i++) {
      outer *= box.size(i);
    }
    return outer;
  }

  private static long inner(Box box, int dim) {
    return Box.elements(box) / outer(box, dim);
  }

  /**
   * Returns the dimension along which the boxes form {@code whole} in their order, if they are
   * equal or no dimension precedes it; else -1.
   */
  private static int dimension(Box whole, List<Box> boxes) {
    if (boxes.size() == 1) {
      return boxes.getFirst().equals(whole) ? 0 : -1;
    }
    for (int dim = 0; dim < whole.rank(); dim++) {
      if (boxes.getFirst().size(dim) < whole.size(dim)) {
        boolean free = outer(whole, dim) == 1;
        return isChain(whole, boxes, dim, free) ? dim : -1;
      }
    }
    return -1;
  }

  private static boolean isChain(Box whole, List<Box> boxes, int dim, boolean anySize) {
    long at = whole.from(dim);
    for (Box box : boxes) {
      boolean fits =
          box.from(dim) == at
              && box.equals(whole.with(dim, at, box.to(dim)))
              && (anySize || box.size(dim) == boxes.getFirst().size(dim));
      if (!fits) {
        return false;
      }
      at = box.to(dim);
    }
    return at == whole.to(dim);
  }

  private List<Value> pieces(Value vector, List<Box> boxes) {
    List<Value> pieces = new ArrayList<>();
    long at = 0;
    for (Box box : boxes) {
      List<Dim> start = List.of(Dim.of(at));
      List<Dim> size = List.of(Dim.of(Box.elements(box)));
      Value piece =
          boxes.size() == 1
              ? vector
              : builder.add(new Movement.Slice(start, size, List.of(1L)), vector);
      pieces.add(reshaped(piece, box.shape()));
      at += Box.elements(box);
    }
    return pieces;
  }

  /** Joins the boxes of a grid along dimensions, beginning with the innermost one. */
  private Value joined(List<Value> pieces, List<Box> boxes, int dim) {
    if (pieces.size() == 1) {
      return pieces.getFirst();
    }
    SortedMap<Long, List<Integer>> rows = new TreeMap<>();
    for (int i = 0; i < boxes.size(); i++) {
      rows.computeIfAbsent(boxes.get(i).from(dim), key -> new ArrayList<>()).add(i);
    }
    List<Value> joined = new ArrayList<>();
    for (List<Integer> row : rows.values()) {
      joined.add(
          joined(
              row.stream().map(pieces::get).toList(),
              row.stream().map(boxes::get).toList(),
              dim + 1));
    }
    return joined.size() == 1 ? joined.getFirst() : builder.add(new Movement.Concat(dim), joined);
  }
}
