package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Operators that reshape a tensor or move its elements. */
final class MovementOperators {
  private MovementOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("Reshape", MovementOperators::reshape);
    registry.add("Flatten", MovementOperators::flatten);
    registry.add("Squeeze", MovementOperators::squeeze);
    registry.add("Unsqueeze", MovementOperators::unsqueeze);
    registry.add("Transpose", MovementOperators::transpose);
    registry.add("Expand", MovementOperators::expand);
    registry.add("Concat", MovementOperators::concat);
    registry.add("Tile", MovementOperators::tile);
    registry.add("DepthToSpace", MovementOperators::depthToSpace);
    registry.add("SpaceToDepth", MovementOperators::spaceToDepth);
    registry.add("Shape", MovementOperators::shape);
    registry.add("Size", MovementOperators::size);
  }

  /**
   * Imports a reshape: {@code 0} copies the extent at its position unless {@code allowzero}; {@code
   * -1} is the remaining extent.
   */
  private static void reshape(NodeScope node) {
    Shape from = node.shape(0);
    List<Dim> wanted =
        node.hasAttribute("shape") && node.inputs() < 2
            ? node.integers("shape").stream().map(extent -> Dim.of(extent)).toList()
            : node.dims(1);
    List<Dim> dims = new ArrayList<>();
    int rest = -1;
    for (Dim dim : wanted) {
      if (dim.is(-1)) {
        if (rest >= 0) {
          throw node.invalid("at most one -1 in the shape", wanted.toString());
        }
        rest = dims.size();
        dims.add(Dim.ONE);
      } else if (dim.is(0) && !node.flag("allowzero", false)) {
        if (dims.size() >= from.rank()) {
          throw node.invalid("a dimension to copy for each 0", wanted + " of " + from);
        }
        dims.add(from.dim(dims.size()));
      } else if (dim.isStatic() && dim.value() < 0) {
        throw node.invalid("extents of 0 or more, or -1", wanted.toString());
      } else {
        dims.add(dim);
      }
    }
    if (rest >= 0) {
      dims.set(rest, remaining(node, from, new Shape(dims)));
    }
    node.output(0, new Arithmetic(node).reshape(node.input(0), new Shape(dims)));
  }

  private static Dim remaining(NodeScope node, Shape from, Shape others) {
    Dim given = others.size();
    if (given.is(0)) {
      throw node.invalid("no 0 together with -1 in the shape", others.toString());
    }
    Dim rest = from.size().dividedExactlyBy(given);
    if (rest == null) {
      if (isFraction(from.size(), given)) {
        throw node.invalid("a shape whose known extents divide " + from.size(), others.toString());
      }
      throw node.unsupported(
          "an extent that is " + from.size() + " divided by " + given,
          "bind the dimensions with --dim so that it's a number");
    }
    return rest;
  }

  /** Whether the quotient is not integral for any symbols. */
  private static boolean isFraction(Dim dividend, Dim divisor) {
    if (divisor.terms().size() != 1) {
      return false;
    }
    Dim symbols = divisor.dividedExactlyBy(Dim.of(divisor.terms().getFirst().coefficient()));
    Dim quotient = dividend.dividedExactlyBy(symbols);
    return quotient != null && quotient.isStatic();
  }

  private static void flatten(NodeScope node) {
    Shape shape = node.shape(0);
    long axis = node.integer("axis", 1);
    int split = axis == shape.rank() ? shape.rank() : node.axis(axis, Math.max(1, shape.rank()));
    Dim outer = shape.range(0, split).size();
    Dim inner = shape.range(split, shape.rank()).size();
    node.output(0, new Arithmetic(node).reshape(node.input(0), Shape.of(outer, inner)));
  }

  /**
   * Returns the axes of the attribute or, since version 13, of operand 1; null if there are none.
   */
  private static List<Long> axes(NodeScope node) {
    if (node.hasAttribute("axes")) {
      return node.integers("axes");
    }
    return node.has(1) ? node.longs(1) : null;
  }

  private static void squeeze(NodeScope node) {
    Shape shape = node.shape(0);
    List<Long> axes = axes(node);
    List<Integer> gone = new ArrayList<>();
    if (axes != null) {
      axes.forEach(axis -> gone.add(node.axis(axis, shape.rank())));
    }
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < shape.rank(); axis++) {
      Dim dim = shape.dim(axis);
      boolean drop = axes == null ? dim.is(1) : gone.contains(axis);
      if (drop && !dim.is(1)) {
        throw node.invalid("an extent of 1 on axis " + axis, shape.toString());
      }
      if (!drop) {
        dims.add(dim);
      }
    }
    node.output(0, new Arithmetic(node).reshape(node.input(0), new Shape(dims)));
  }

  private static void unsqueeze(NodeScope node) {
    List<Long> axes = axes(node);
    if (axes == null) {
      throw node.invalid("axes", "none");
    }
    int rank = node.shape(0).rank() + axes.size();
    List<Integer> added = axes.stream().map(axis -> node.axis(axis, rank)).sorted().toList();
    if (added.stream().distinct().count() < added.size()) {
      throw node.invalid("distinct axes", axes.toString());
    }
    List<Dim> dims = new ArrayList<>(node.shape(0).dims());
    added.forEach(axis -> dims.add(axis, Dim.ONE));
    node.output(0, new Arithmetic(node).reshape(node.input(0), new Shape(dims)));
  }

  private static void transpose(NodeScope node) {
    int rank = node.shape(0).rank();
    List<Integer> permutation =
        node.hasAttribute("perm")
            ? node.integers("perm").stream().map(axis -> node.axis(axis, rank)).toList()
            : IntStream.range(0, rank).map(axis -> rank - 1 - axis).boxed().toList();
    node.output(0, node.add(new Movement.Transpose(permutation), node.input(0)));
  }

  /** Broadcasts in both directions: an extent of 1 in the shape keeps that of the operand. */
  private static void expand(NodeScope node) {
    Shape wanted = new Shape(node.dims(1));
    Shape shape = Shape.broadcast(node.shape(0), wanted);
    if (shape == null) {
      for (int i = 0; i < Math.min(wanted.rank(), node.shape(0).rank()); i++) {
        if (!wanted.fromEnd(i).is(1) && !node.shape(0).fromEnd(i).is(1)) {
          node.equate(node.shape(0).fromEnd(i), wanted.fromEnd(i));
        }
      }
      throw node.invalid("a shape that " + node.shape(0) + " broadcasts to", wanted.toString());
    }
    node.output(0, new Arithmetic(node).broadcast(node.input(0), shape));
  }

  private static void concat(NodeScope node) {
    int axis = node.axis(node.integer("axis", 1), node.shape(0).rank());
    List<Value> parts = new ArrayList<>();
    for (int i = 0; i < node.inputs(); i++) {
      parts.add(node.input(i));
    }
    node.output(0, node.add(new Movement.Concat(axis), parts));
  }

  /** Repeats each extent e r times: [e] -> [1, e] -> [r, e] -> [r e]. */
  private static void tile(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = node.shape(0);
    List<Dim> repeats = node.dims(1);
    if (repeats.size() != shape.rank()) {
      throw node.invalid("a repeat for each of " + shape.rank() + " axes", repeats.toString());
    }
    List<Dim> split = new ArrayList<>();
    List<Dim> expanded = new ArrayList<>();
    List<Dim> joined = new ArrayList<>();
    for (int axis = 0; axis < shape.rank(); axis++) {
      Dim repeat = repeats.get(axis);
      if (repeat.isStatic() && repeat.value() < 0) {
        throw node.invalid("repeats of 0 or more", repeats.toString());
      }
      if (!repeat.is(1)) {
        split.add(Dim.ONE);
        expanded.add(repeat);
      }
      split.add(shape.dim(axis));
      expanded.add(shape.dim(axis));
      joined.add(shape.dim(axis).times(repeat));
    }
    Value repeated = of.broadcast(of.reshape(node.input(0), new Shape(split)), new Shape(expanded));
    node.output(0, of.reshape(repeated, new Shape(joined)));
  }

  private static Dim quotient(NodeScope node, Dim dim, Dim divisor) {
    Dim quotient = dim.dividedExactlyBy(divisor);
    if (quotient == null) {
      throw node.invalid("an extent that is a multiple of " + divisor, dim.toString());
    }
    return quotient;
  }

  /** {@code [n, c, h, w] -> [n, c/b², h b, w b]}. */
  private static void depthToSpace(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Shape x = image(node);
    Dim block = Dim.of(node.integer("blocksize"));
    Dim c = quotient(node, x.dim(1), block.times(block));
    Value moved;
    if (node.text("mode", "DCR").equals("DCR")) {
      Value split =
          of.reshape(node.input(0), Shape.of(x.dim(0), block, block, c, x.dim(2), x.dim(3)));
      moved = of.transpose(split, 0, 3, 4, 1, 5, 2);
    } else {
      Value split =
          of.reshape(node.input(0), Shape.of(x.dim(0), c, block, block, x.dim(2), x.dim(3)));
      moved = of.transpose(split, 0, 1, 4, 2, 5, 3);
    }
    node.output(
        0, of.reshape(moved, Shape.of(x.dim(0), c, x.dim(2).times(block), x.dim(3).times(block))));
  }

  private static Shape image(NodeScope node) {
    if (node.shape(0).rank() != 4) {
      throw node.invalid("an operand [n, c, h, w]", node.shape(0).toString());
    }
    return node.shape(0);
  }

  private static void spaceToDepth(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Shape x = image(node);
    Dim block = Dim.of(node.integer("blocksize"));
    Dim h = quotient(node, x.dim(2), block);
    Dim w = quotient(node, x.dim(3), block);
    Value split = of.reshape(node.input(0), Shape.of(x.dim(0), x.dim(1), h, block, w, block));
    boolean depthFirst = node.text("mode", "DCR").equals("DCR");
    Value moved =
        depthFirst ? of.transpose(split, 0, 3, 5, 1, 2, 4) : of.transpose(split, 0, 1, 3, 5, 2, 4);
    node.output(0, of.reshape(moved, Shape.of(x.dim(0), x.dim(1).times(block).times(block), h, w)));
  }

  /** Returns the extents from {@code start} to {@code end}, both clamped. */
  private static void shape(NodeScope node) {
    List<Dim> dims = node.shape(0).dims();
    int start = clamp(node.integer("start", 0), dims.size());
    int end = clamp(node.integer("end", dims.size()), dims.size());
    List<Dim> part = start < end ? dims.subList(start, end) : Collections.emptyList();
    node.output(
        0,
        part.isEmpty()
            ? node.constant(Tensor.longs(Shape.of(0)))
            : new Arithmetic(node).extents(part));
  }

  private static int clamp(long axis, int rank) {
    return Math.clamp(axis < 0 ? axis + rank : axis, 0, rank);
  }

  private static void size(NodeScope node) {
    node.output(0, new Arithmetic(node).extent(node.shape(0).size()));
  }
}
