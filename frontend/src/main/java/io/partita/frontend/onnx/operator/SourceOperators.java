package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/** Operators that create tensors from attributes or positions. */
final class SourceOperators {
  private SourceOperators() {}

  private static final long MAX_LENGTH = 1 << 24;

  static void register(OperatorRegistry registry) {
    registry.add("Constant", SourceOperators::constant);
    registry.add("ConstantOfShape", SourceOperators::constantOfShape);
    registry.add("Range", SourceOperators::range);
    registry.add("EyeLike", SourceOperators::eyeLike);
    registry.add("OneHot", SourceOperators::oneHot);
    registry.add("Trilu", SourceOperators::triangle);
    registry.add("HannWindow", node -> window(node, 0.5, 0.5, 0));
    registry.add("HammingWindow", node -> window(node, 25.0 / 46, 1 - 25.0 / 46, 0));
    registry.add("BlackmanWindow", node -> window(node, 0.42, 0.5, 0.08));
  }

  private static void constant(NodeScope node) {
    node.output(0, node.constant(constantData(node)));
  }

  private static Tensor constantData(NodeScope node) {
    if (node.hasAttribute("value")) {
      return node.tensor("value");
    }
    if (node.hasAttribute("sparse_value")) {
      return node.tensor("sparse_value");
    }
    if (node.hasAttribute("value_int")) {
      return Tensor.longs(Shape.SCALAR, node.integer("value_int"));
    }
    if (node.hasAttribute("value_float")) {
      return Tensor.floats(Shape.SCALAR, (float) node.number("value_float"));
    }
    if (node.hasAttribute("value_ints")) {
      long[] values = node.integers("value_ints").stream().mapToLong(Long::longValue).toArray();
      return Tensor.longs(Shape.of(values.length), values);
    }
    if (node.hasAttribute("value_floats")) {
      List<Double> values = node.numbers("value_floats");
      TensorType type = TensorType.of(ElementType.F32, values.size());
      return Tensor.ofDoubles(type, values.stream().mapToDouble(Double::doubleValue).toArray());
    }
    if (node.hasAttribute("value_string") || node.hasAttribute("value_strings")) {
      throw node.unsupported("strings", "remove them from the model");
    }
    throw node.invalid("a value", "none");
  }

  private static void constantOfShape(NodeScope node) {
    Tensor value =
        node.hasAttribute("value") ? node.tensor("value") : Tensor.floats(Shape.SCALAR, 0);
    if (value.size() != 1) {
      throw node.invalid("a value of one element", value.type().toString());
    }
    Shape shape = new Shape(node.dims(0));
    if (shape.dims().stream().anyMatch(dim -> dim.isStatic() && dim.value() < 0)) {
      throw node.invalid("extents of 0 or more", shape.toString());
    }
    Value scalar = node.constant(value.reshaped(Shape.SCALAR));
    node.output(0, new Arithmetic(node).broadcast(scalar, shape));
  }

  /** Computes start + [0, 1, …, n-1] delta, n = ceil((limit - start) / delta). */
  private static void range(NodeScope node) {
    ElementType element = node.type(0).element();
    if (element.isFloat()) {
      node.output(0, node.constant(floatRange(node, element)));
      return;
    }
    Arithmetic of = new Arithmetic(node);
    for (int i = 0; i < 3; i++) {
      if (!node.shape(i).size().is(1)) {
        throw node.invalid("scalars start, limit and delta", node.type(i).toString());
      }
    }
    Dim start = node.dims(0).getFirst();
    Dim limit = node.dims(1).getFirst();
    long delta = node.integerOperand(2);
    Dim size = steps(node, limit.minus(start), delta);
    Value index = of.mul(of.iota(size, element), delta);
    Value first = of.reshape(node.input(0), Shape.SCALAR);
    node.output(0, start.is(0) ? index : of.add(index, first));
  }

  private static Dim steps(NodeScope node, Dim span, long delta) {
    if (delta == 0) {
      throw node.invalid("a delta other than 0", "0");
    }
    Dim forward = delta > 0 ? span : Dim.ZERO.minus(span);
    long stride = Math.absExact(delta);
    if (forward.isStatic()) {
      return Dim.of(Math.max(0, Math.ceilDiv(forward.value(), stride)));
    }
    Dim size = forward.dividedExactlyBy(Dim.of(stride));
    if (size == null) {
      throw node.unsupported(
          "a range of " + forward + " by steps of " + delta, "bind the dimensions with --dim");
    }
    return size;
  }

  private static Tensor floatRange(NodeScope node, ElementType element) {
    double start = scalar(node, 0);
    double delta = scalar(node, 2);
    double size = Math.max(0, Math.ceil((scalar(node, 1) - start) / delta));
    if (!(size <= MAX_LENGTH)) {
      throw node.unsupported("a range of " + size + " elements", "use a shorter one");
    }
    double[] values = new double[(int) size];
    for (int i = 0; i < values.length; i++) {
      values[i] = start + i * delta;
    }
    return Tensor.ofDoubles(TensorType.of(element, values.length), values);
  }

  private static double scalar(NodeScope node, int input) {
    Tensor data = node.data(input);
    if (data.size() != 1) {
      throw node.invalid("a scalar for operand " + input, data.type().toString());
    }
    return data.getDouble(0);
  }

  /** Returns the positions along the rows {@code [m, 1]} and columns {@code [n]} of a matrix. */
  private record Positions(Value rows, Value columns) {
    static Positions of(Arithmetic of, Dim m, Dim n) {
      Value rows = of.reshape(of.iota(m, ElementType.I64), Shape.of(m, Dim.ONE));
      return new Positions(rows, of.iota(n, ElementType.I64));
    }
  }

  private static void eyeLike(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = node.shape(0);
    if (shape.rank() != 2) {
      throw node.invalid("a matrix", shape.toString());
    }
    Positions at = Positions.of(of, shape.dim(0), shape.dim(1));
    Value diagonal = of.add(at.rows(), node.integer("k", 0));
    Value ones = of.binary(BinaryFunction.EQUAL, diagonal, at.columns());
    node.output(0, of.cast(ones, node.element("dtype", node.type(0).element())));
  }

  /**
   * Imports OneHot: negative indices count from the end, and those out of range give only "off".
   */
  private static void oneHot(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    int rank = node.shape(0).rank() + 1;
    int axis = node.axis(node.integer("axis", -1), rank);
    Dim depth =
        node.type(1).element().isFloat()
            ? Dim.of((long) node.data(1).getDouble(0))
            : node.dims(1).getFirst();
    Value indices = of.cast(node.input(0), ElementType.I64);
    Value wrapped =
        of.select(
            of.binary(BinaryFunction.LESS, indices, 0), of.add(indices, of.extent(depth)), indices);
    Value spread = of.reshape(wrapped, node.shape(0).insert(axis, Dim.ONE));
    Value places = of.alongAxis(of.iota(depth, ElementType.I64), axis, rank);
    Value hot = of.binary(BinaryFunction.EQUAL, spread, places);
    Value off = of.reshape(of.slice(node.input(2), 0, Dim.ZERO, Dim.ONE), Shape.SCALAR);
    Value on = of.reshape(of.slice(node.input(2), 0, Dim.ONE, Dim.ONE), Shape.SCALAR);
    node.output(0, of.select(hot, on, off));
  }

  /** Keeps elements on or above (below) the k-th diagonal: {@code column - row >= k (<= k)}. */
  private static void triangle(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = node.shape(0);
    if (shape.rank() < 2) {
      throw node.invalid("matrices", shape.toString());
    }
    Positions at = Positions.of(of, shape.fromEnd(1), shape.fromEnd(0));
    Value distance = of.sub(at.columns(), at.rows());
    Optional<Value> k = node.optionalInput(1);
    Value bound =
        k.isPresent()
            ? of.reshape(k.get(), Shape.SCALAR)
            : node.constant(Tensor.longs(Shape.SCALAR, 0));
    BinaryFunction keep =
        node.flag("upper", true) ? BinaryFunction.GREATER_OR_EQUAL : BinaryFunction.LESS_OR_EQUAL;
    Value kept = of.binary(keep, distance, bound);
    node.output(0, of.select(kept, node.input(0), node.scalarLike(node.input(0), 0)));
  }

  /** Computes a0 - a1 cos(2πi/n) + a2 cos(4πi/n), n = size if periodic, else size - 1. */
  private static void window(NodeScope node, double a0, double a1, double a2) {
    long size = node.integerOperand(0);
    if (size < 0 || size > MAX_LENGTH) {
      throw node.unsupported("a window of " + size + " elements", "use a shorter one");
    }
    double n = node.flag("periodic", true) ? size : size - 1;
    double[] values = new double[(int) size];
    for (int i = 0; i < size; i++) {
      double angle = 2 * Math.PI * i / n;
      values[i] = a0 - a1 * Math.cos(angle) + a2 * Math.cos(2 * angle);
    }
    ElementType element = node.element("output_datatype", ElementType.F32);
    node.output(0, node.constant(Tensor.ofDoubles(TensorType.of(element, size), values)));
  }
}
