package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Builds operations for formulas; a number has the element type of its other operand. */
record Arithmetic(NodeScope node) {
  Value unary(UnaryFunction function, Value x) {
    return node.add(new Elementwise.Unary(function), x);
  }

  Value binary(BinaryFunction function, Value a, Value b) {
    return node.add(new Elementwise.Binary(function), a, b);
  }

  Value binary(BinaryFunction function, Value a, double b) {
    return binary(function, a, node.scalarLike(a, b));
  }

  Value add(Value a, Value b) {
    return binary(BinaryFunction.ADD, a, b);
  }

  Value add(Value a, double b) {
    return binary(BinaryFunction.ADD, a, b);
  }

  Value sub(Value a, Value b) {
    return binary(BinaryFunction.SUB, a, b);
  }

  Value mul(Value a, Value b) {
    return binary(BinaryFunction.MUL, a, b);
  }

  Value mul(Value a, double b) {
    return b == 1 ? a : binary(BinaryFunction.MUL, a, b);
  }

  Value div(Value a, Value b) {
    return binary(BinaryFunction.DIV, a, b);
  }

  Value min(Value a, Value b) {
    return binary(BinaryFunction.MIN, a, b);
  }

  Value max(Value a, Value b) {
    return binary(BinaryFunction.MAX, a, b);
  }

  Value min(Value a, double b) {
    return binary(BinaryFunction.MIN, a, b);
  }

  Value max(Value a, double b) {
    return binary(BinaryFunction.MAX, a, b);
  }

  Value select(Value condition, Value then, Value otherwise) {
    return node.add(new Elementwise.Select(), condition, then, otherwise);
  }

  Value cast(Value x, ElementType to) {
    return node.add(new Elementwise.Cast(to), x);
  }

  Value reshape(Value x, Shape to) {
    return node.add(new Movement.Reshape(to), x);
  }

  Value broadcast(Value x, Shape to) {
    return node.add(new Movement.Broadcast(to), x);
  }

  Value transpose(Value x, Integer... permutation) {
    return node.add(new Movement.Transpose(List.of(permutation)), x);
  }

  Value concat(int axis, Value... parts) {
    return node.add(new Movement.Concat(axis), parts);
  }

  /** Slices {@code size} elements of one axis, beginning at {@code start}. */
  Value slice(Value x, int axis, Dim start, Dim size) {
    return slice(x, axis, start, size, 1);
  }

  Value slice(Value x, int axis, Dim start, Dim size, long step) {
    List<Dim> starts = new ArrayList<>(Collections.nCopies(x.type().rank(), Dim.ZERO));
    List<Dim> sizes = new ArrayList<>(x.type().shape().dims());
    List<Long> steps = new ArrayList<>(Collections.nCopies(x.type().rank(), 1L));
    starts.set(axis, start);
    sizes.set(axis, size);
    steps.set(axis, step);
    return node.add(new Movement.Slice(starts, sizes, steps), x);
  }

  Value reduce(ReductionKind kind, Value x, List<Integer> axes, boolean keepDims) {
    return node.add(new Reduction.Reduce(kind, axes, keepDims), x);
  }

  Value mean(Value x, List<Integer> axes) {
    return reduce(ReductionKind.MEAN, x, axes, true);
  }

  /** Returns an extent as a value, which is constant if bound. */
  Value extent(Dim dim) {
    return dim.isStatic()
        ? node.constant(Tensor.longs(Shape.SCALAR, dim.value()))
        : node.add(new Source.Extent(dim));
  }

  /** Returns extents as an i64 vector. */
  Value extents(List<Dim> dims) {
    if (dims.stream().allMatch(Dim::isStatic)) {
      long[] values = dims.stream().mapToLong(Dim::value).toArray();
      return node.constant(Tensor.longs(Shape.of(values.length), values));
    }
    Value[] parts =
        dims.stream().map(dim -> reshape(extent(dim), Shape.of(1))).toArray(Value[]::new);
    return concat(0, parts);
  }

  Value iota(Dim size, ElementType element) {
    return node.add(new Source.Iota(size, element));
  }

  /** Returns a tensor of one repeated scalar. */
  Value filled(Value scalar, Shape shape) {
    return broadcast(scalar, shape);
  }

  /** Returns the axes from {@code from}, inclusive, to {@code to}, exclusive. */
  static List<Integer> axes(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  /** Appends dimensions of extent 1 up to a rank. */
  Value padRank(Value x, int rank) {
    List<Dim> dims = new ArrayList<>(x.type().shape().dims());
    while (dims.size() < rank) {
      dims.add(Dim.ONE);
    }
    return reshape(x, new Shape(dims));
  }

  /** Reshapes a vector so that it broadcasts along {@code axis} of a tensor of {@code rank}. */
  Value alongAxis(Value vector, int axis, int rank) {
    return padRank(vector, rank - axis);
  }
}
