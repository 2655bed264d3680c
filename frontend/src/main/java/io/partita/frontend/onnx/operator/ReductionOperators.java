package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;

/** Operators whose elements depend on whole lines of the operand. */
final class ReductionOperators {
  private ReductionOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("ReduceSum", reduction(ReductionKind.SUM));
    registry.add("ReduceProd", reduction(ReductionKind.PRODUCT));
    registry.add("ReduceMax", reduction(ReductionKind.MAX));
    registry.add("ReduceMin", reduction(ReductionKind.MIN));
    registry.add("ReduceMean", ReductionOperators::mean);
    registry.add("ReduceL1", ReductionOperators::absoluteSum);
    registry.add("ReduceL2", ReductionOperators::euclideanNorm);
    registry.add("ReduceSumSquare", node -> node.output(0, sumOfSquares(node, node.input(0))));
    registry.add("ReduceLogSum", ReductionOperators::logSum);
    registry.add("ReduceLogSumExp", ReductionOperators::logSumExp);
    registry.add("ArgMax", node -> argReduce(node, true));
    registry.add("ArgMin", node -> argReduce(node, false));
    registry.add("CumSum", node -> cumulative(node, false));
    registry.add("CumProd", node -> cumulative(node, true));
    registry.add("TopK", ReductionOperators::topK);
    registry.add("Softmax", node -> softmax(node, false));
    registry.add("LogSoftmax", node -> softmax(node, true));
    registry.add("Hardmax", ReductionOperators::hardmax);
  }

  /**
   * Returns the axes of an attribute or operand; by default all, or none with noop_with_empty_axes.
   */
  private static List<Integer> axes(NodeScope node) {
    int rank = node.shape(0).rank();
    List<Long> given =
        node.hasAttribute("axes") ? node.integers("axes") : node.has(1) ? node.longs(1) : List.of();
    if (given.isEmpty()) {
      boolean none = node.flag("noop_with_empty_axes", false);
      return none ? List.of() : Arithmetic.axes(0, rank);
    }
    return given.stream().map(axis -> node.axis(axis, rank)).distinct().sorted().toList();
  }

  private static Value reduce(NodeScope node, ReductionKind kind, Value x) {
    List<Integer> axes = axes(node);
    return axes.isEmpty()
        ? x
        : new Arithmetic(node).reduce(kind, x, axes, node.flag("keepdims", true));
  }

  private static OperatorImporter reduction(ReductionKind kind) {
    return node -> {
      Arithmetic of = new Arithmetic(node);
      Value x = node.input(0);
      if (x.type().element() == ElementType.BOOL) {
        Value bytes = of.cast(x, ElementType.U8);
        node.output(0, of.cast(reduce(node, kind, bytes), ElementType.BOOL));
      } else {
        node.output(0, reduce(node, kind, x));
      }
    };
  }

  private static void mean(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    if (x.type().element().isFloat()) {
      node.output(0, reduce(node, ReductionKind.MEAN, x));
      return;
    }
    Dim count = Dim.ONE;
    for (int axis : axes(node)) {
      count = count.times(node.shape(0).dim(axis));
    }
    Value sum = reduce(node, ReductionKind.SUM, x);
    node.output(0, of.div(sum, of.cast(of.extent(count), x.type().element())));
  }

  private static void absoluteSum(NodeScope node) {
    Value x = new Arithmetic(node).unary(UnaryFunction.ABS, node.input(0));
    node.output(0, reduce(node, ReductionKind.SUM, x));
  }

  private static Value sumOfSquares(NodeScope node, Value x) {
    return reduce(node, ReductionKind.SUM, new Arithmetic(node).mul(x, x));
  }

  /** Returns {@code x} as a float, for roots and logarithms. */
  private static Value asFloat(Arithmetic of, Value x) {
    return x.type().element().isFloat() ? x : of.cast(x, ElementType.F64);
  }

  private static void euclideanNorm(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = asFloat(of, node.input(0));
    Value norm = of.unary(UnaryFunction.SQRT, sumOfSquares(node, x));
    node.output(0, of.cast(norm, node.type(0).element()));
  }

  private static void logSum(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value sum = reduce(node, ReductionKind.SUM, asFloat(of, node.input(0)));
    node.output(0, of.cast(of.unary(UnaryFunction.LOG, sum), node.type(0).element()));
  }

  /** Computes m + log Σ e^(x-m), where m is the largest x if finite, else 0. */
  private static void logSumExp(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = asFloat(of, node.input(0));
    List<Integer> axes = axes(node);
    Value largest = axes.isEmpty() ? x : of.reduce(ReductionKind.MAX, x, axes, true);
    Value infinite =
        of.binary(
            BinaryFunction.OR,
            of.unary(UnaryFunction.IS_POSITIVE_INFINITY, largest),
            of.unary(UnaryFunction.IS_NEGATIVE_INFINITY, largest));
    Value m = of.select(infinite, node.scalarLike(x, 0), largest);
    Value exponentials = of.unary(UnaryFunction.EXP, of.sub(x, m));
    Value sum =
        axes.isEmpty() ? exponentials : of.reduce(ReductionKind.SUM, exponentials, axes, true);
    Value result = of.add(of.unary(UnaryFunction.LOG, sum), m);
    if (!node.flag("keepdims", true)) {
      List<Dim> dims = new java.util.ArrayList<>();
      for (int axis = 0; axis < x.type().rank(); axis++) {
        if (!axes.contains(axis)) {
          dims.add(x.type().dim(axis));
        }
      }
      result = of.reshape(result, new Shape(dims));
    }
    node.output(0, of.cast(result, node.type(0).element()));
  }

  private static void argReduce(NodeScope node, boolean largest) {
    int axis = node.axis(node.integer("axis", 0), node.shape(0).rank());
    node.output(
        0,
        node.add(
            new Reduction.ArgReduce(
                largest, axis, node.flag("keepdims", true), node.flag("select_last_index", false)),
            node.input(0)));
  }

  private static void cumulative(NodeScope node, boolean product) {
    int axis = node.axis(node.integerOperand(1), node.shape(0).rank());
    node.output(
        0,
        node.add(
            new Reduction.Cumulative(
                product, axis, node.flag("exclusive", false), node.flag("reverse", false)),
            node.input(0)));
  }

  private static Dim only(NodeScope node, int input) {
    List<Dim> dims = node.dims(input);
    if (dims.size() != 1) {
      throw node.invalid("one number for operand " + input, dims.toString());
    }
    return dims.getFirst();
  }

  /**
   * Imports TopK, with k as an attribute before version 10. Unsorted results may have any order, so
   * they are sorted.
   */
  private static void topK(NodeScope node) {
    int axis = node.axis(node.integer("axis", -1), node.shape(0).rank());
    Dim k = node.hasAttribute("k") ? Dim.of(node.integer("k")) : only(node, 1);
    List<Value> results =
        node.addAll(
            new Reduction.TopK(k, axis, node.flag("largest", true)), List.of(node.input(0)));
    node.output(0, results.get(0));
    node.output(1, results.get(1));
  }

  /** Before version 13, all dimensions from the axis are one line. */
  private record Lines(Value x, int axis, Shape before) {
    static Lines of(NodeScope node) {
      Shape shape = node.shape(0);
      if (node.opset() >= 13) {
        return new Lines(node.input(0), node.axis(node.integer("axis", -1), shape.rank()), shape);
      }
      long given = node.integer("axis", 1);
      int axis = given == shape.rank() ? shape.rank() : node.axis(given, shape.rank());
      if (axis == shape.rank() - 1) {
        return new Lines(node.input(0), axis, shape);
      }
      Shape flat = Shape.of(shape.range(0, axis).size(), shape.range(axis, shape.rank()).size());
      return new Lines(new Arithmetic(node).reshape(node.input(0), flat), 1, shape);
    }
  }

  private static void softmax(NodeScope node, boolean logarithm) {
    Lines lines = Lines.of(node);
    Value y = node.add(new Reduction.Softmax(lines.axis(), logarithm), lines.x());
    node.output(0, new Arithmetic(node).reshape(y, lines.before()));
  }

  /** Computes 1 for the first largest element of each line, else 0. */
  private static void hardmax(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Lines lines = Lines.of(node);
    Value x = lines.x();
    Value first = node.add(new Reduction.ArgReduce(true, lines.axis(), true, false), x);
    Value places =
        of.alongAxis(
            of.iota(x.type().dim(lines.axis()), ElementType.I64), lines.axis(), x.type().rank());
    Value hot = of.cast(of.binary(BinaryFunction.EQUAL, places, first), x.type().element());
    node.output(0, of.reshape(hot, lines.before()));
  }
}
