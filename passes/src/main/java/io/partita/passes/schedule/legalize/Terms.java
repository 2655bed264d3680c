package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Adds nodes of static types for rules. Operations without effect add none. */
record Terms(GraphEditor graph) {
  /** Slices {@code size} indices of an axis, beginning at {@code start}. */
  Value slice(Value value, int axis, long start, long size) {
    return slice(value, axis, start, size, 1);
  }

  /** Slices {@code size} indices of an axis, beginning at {@code start}, {@code step} apart. */
  Value slice(Value value, int axis, long start, long size, long step) {
    Shape shape = value.type().shape();
    if (start == 0 && size == shape.extent(axis) && step == 1) {
      return value;
    }
    List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.of(0)));
    starts.set(axis, Dim.of(start));
    List<Long> steps = new ArrayList<>(Collections.nCopies(shape.rank(), 1L));
    steps.set(axis, step);
    List<Dim> sizes = shape.with(axis, Dim.of(size)).dims();
    return graph.add(new Movement.Slice(starts, sizes, steps), value);
  }

  Value concat(int axis, List<Value> parts) {
    return parts.size() == 1 ? parts.getFirst() : graph.add(new Movement.Concat(axis), parts);
  }

  Value reshaped(Value value, Shape shape) {
    return value.type().shape().equals(shape)
        ? value
        : graph.add(new Movement.Reshape(shape), value);
  }

  Value broadcast(Value value, Shape shape) {
    return value.type().shape().equals(shape)
        ? value
        : graph.add(new Movement.Broadcast(shape), value);
  }

  Value transposed(Value value, Integer... permutation) {
    return graph.add(new Movement.Transpose(List.of(permutation)), value);
  }

  /** Pads with zeros, or removes elements if paddings are negative. */
  Value padded(Value value, List<Long> low, List<Long> high) {
    boolean isSame = low.stream().allMatch(each -> each == 0) && high.equals(low);
    return isSame
        ? value
        : graph.add(
            new Movement.Pad(Movement.PadMode.CONSTANT, low, high), value, number(value, 0));
  }

  Value cast(Value value, ElementType to) {
    return value.type().element() == to ? value : graph.add(new Elementwise.Cast(to), value);
  }

  Value unary(UnaryFunction function, Value value) {
    return graph.add(new Elementwise.Unary(function), value);
  }

  Value binary(BinaryFunction function, Value left, Value right) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }

  /** Returns a scalar of the element type of another value. */
  Value number(Value like, double value) {
    return graph.constant(Tensor.filled(TensorType.scalar(like.type().element()), value));
  }
}
