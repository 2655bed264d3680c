package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operators whose results have one element per true element of a mask. */
final class SelectionOperators {
  private SelectionOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("NonZero", node -> node.output(0, nonZero(node, node.input(0))));
    registry.add("Compress", SelectionOperators::compress);
  }

  /** Imports NonZero: the coordinates of all elements other than 0, {@code i64[rank, count]}. */
  private static Value nonZero(NodeScope node, Value x) {
    Optional<Tensor> known = node.known(x);
    if (known.isPresent()) {
      return node.constant(coordinates(known.get()));
    }
    Optional<List<Dim>> dims = node.knownDims(x);
    if (dims.isPresent() && dims.get().stream().allMatch(dim -> dim.isAtLeast(1))) {
      return everywhere(node, x.type().shape());
    }
    if (isFilled(x)) {
      return everywhere(node, x.type().shape());
    }
    if (x.type().rank() == 0) {
      throw node.unsupported("a scalar whose value isn't known", "give it a dimension");
    }
    return node.selected(new Arithmetic(node).cast(x, ElementType.BOOL))
        .orElseGet(() -> everywhere(node, x.type().shape()));
  }

  /** Whether all elements are one number other than 0, in a possibly unknown shape. */
  private static boolean isFilled(Value x) {
    return !x.isInput()
        && x.definition().op() instanceof Movement.Broadcast
        && x.definition().operand(0).definition() != null
        && x.definition()
            .operand(0)
            .definition()
            .constant()
            .filter(data -> data.size() == 1 && data.getDouble(0) != 0)
            .isPresent();
  }

  private static Value everywhere(NodeScope node, Shape shape) {
    Arithmetic of = new Arithmetic(node);
    Value[] parts = new Value[shape.rank()];
    for (int axis = 0; axis < parts.length; axis++) {
      Value iota = of.iota(shape.dim(axis), ElementType.I64);
      Value along = of.alongAxis(iota, axis, shape.rank());
      parts[axis] = of.reshape(of.broadcast(along, shape), Shape.of(Dim.ONE, shape.size()));
    }
    return of.concat(0, parts);
  }

  private static Tensor coordinates(Tensor data) {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < data.size(); i++) {
      if (data.getDouble(i) != 0) {
        places.add(i);
      }
    }
    long[] strides = data.shape().strides();
    long[] coordinates = new long[strides.length * places.size()];
    for (int axis = 0; axis < strides.length; axis++) {
      for (int i = 0; i < places.size(); i++) {
        coordinates[axis * places.size() + i] =
            places.get(i) / strides[axis] % data.shape().extent(axis);
      }
    }
    return Tensor.longs(Shape.of(strides.length, places.size()), coordinates);
  }

  /**
   * Imports Compress: the elements of {@code x} along an axis where a condition, which may be
   * shorter, is true.
   */
  private static void compress(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    int axis = 0;
    if (node.hasAttribute("axis")) {
      axis = node.axis(node.integer("axis"), x.type().rank());
    } else {
      x = of.reshape(x, Shape.of(x.type().shape().size()));
    }
    Value places = nonZero(node, node.input(1));
    Value at = of.reshape(places, Shape.of(places.type().dim(1)));
    node.output(0, node.add(new Movement.Gather(axis), x, at));
  }
}
