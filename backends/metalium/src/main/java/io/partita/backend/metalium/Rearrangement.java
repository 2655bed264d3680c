package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * A value as elements of another: the element at {@code (i, …, k, l)} is the one at {@code start +
 * i steps[0] + … + l steps.last}.
 *
 * @param extents of all dimensions, at least that of columns
 */
record Rearrangement(long start, List<Long> extents, List<Long> steps) {
  Rearrangement {
    extents = List.copyOf(extents);
    steps = List.copyOf(steps);
  }

  /** The rearrangement that a node computes, if it is one. */
  static Optional<Rearrangement> of(Node node) {
    if (node.operands().isEmpty() || node.results().size() > 1) {
      return Optional.empty();
    }
    TensorType type = node.result().type();
    long[] strides = strides(node.operand(0).type());
    return switch (node.op()) {
      case Movement.Reshape reshape -> {
        long columns = Matrices.columns(type);
        long rows = type.shape().elements() / columns;
        yield Optional.of(new Rearrangement(0, List.of(rows, columns), List.of(columns, 1L)));
      }
      case Movement.Transpose(List<Integer> permutation) ->
          Optional.of(of(0, type, permutation.stream().mapToLong(axis -> strides[axis]).toArray()));
      case Movement.Slice slice -> {
        long start = 0;
        for (int axis = 0; axis < strides.length; axis++) {
          start += slice.starts().get(axis).value() * strides[axis];
          strides[axis] *= slice.steps().get(axis);
        }
        boolean isForward = slice.steps().stream().allMatch(step -> step > 0);
        yield isForward ? Optional.of(of(start, type, strides)) : Optional.empty();
      }
      case Movement.Broadcast broadcast -> Optional.of(broadcast(node.operand(0).type(), type));
      case Movement.GatherElements gather ->
          constant(node.operand(1)).flatMap(places -> gathered(node, places));
      default -> Optional.empty();
    };
  }

  /** Elements that count as often as they broadcast. */
  static Rearrangement broadcast(TensorType from, TensorType to) {
    long[] strides = strides(from);
    long[] steps = new long[to.rank()];
    for (int axis = 0; axis < from.rank(); axis++) {
      if (from.shape().extent(axis) > 1) {
        steps[to.rank() - from.rank() + axis] = strides[axis];
      }
    }
    return of(0, to, steps);
  }

  /** Elements at constant places, if steps in all dimensions add up to them. */
  private static Optional<Rearrangement> gathered(Node node, Tensor places) {
    TensorType numbered = node.operand(0).type().with(ElementType.I64);
    long[] numbers = LongStream.range(0, numbered.shape().elements()).toArray();
    List<Tensor> operands = List.of(Tensor.ofLongs(numbered, numbers), places);
    long[] from = OpEvaluator.evaluate(node.op(), operands).getFirst().longs();
    TensorType type = node.result().type();
    return steps(from, type.shape()).map(steps -> of(from[0], type, steps));
  }

  /** The steps of each dimension, if places are the sums of such steps. */
  static Optional<long[]> steps(long[] places, Shape shape) {
    long[] extents = shape.extents();
    long[] steps = new long[extents.length];
    int stride = 1;
    for (int axis = extents.length - 1; axis >= 0; axis--) {
      steps[axis] = extents[axis] > 1 ? places[stride] - places[0] : 0;
      stride *= Math.toIntExact(extents[axis]);
    }
    for (int i = 0; i < places.length; i++) {
      long place = places[0];
      int rest = i;
      for (int axis = extents.length - 1; axis >= 0; axis--) {
        place += rest % extents[axis] * steps[axis];
        rest /= Math.toIntExact(extents[axis]);
      }
      if (place != places[i]) {
        return Optional.empty();
      }
    }
    return Optional.of(steps);
  }

  /** The elements of a constant, also of one that broadcasts. */
  private static Optional<Tensor> constant(Value value) {
    Optional<Tensor> found = Matrices.constant(value);
    return found.isPresent()
            || value.isInput()
            || !(value.definition().op() instanceof Movement.Broadcast broadcast)
        ? found
        : constant(value.definition().operand(0))
            .map(data -> OpEvaluator.evaluate(broadcast, List.of(data)).getFirst());
  }

  /** Without dimensions of extent 1, but for columns. */
  private static Rearrangement of(long start, TensorType type, long[] steps) {
    List<Long> extents = new ArrayList<>();
    List<Long> kept = new ArrayList<>();
    for (int axis = 0; axis < steps.length; axis++) {
      long extent = type.shape().extent(axis);
      if (extent != 1 || axis == steps.length - 1) {
        extents.add(extent);
        kept.add(steps[axis]);
      }
    }
    return new Rearrangement(start, extents, kept);
  }

  private static long[] strides(TensorType type) {
    long[] strides = new long[type.rank()];
    long stride = 1;
    for (int axis = type.rank() - 1; axis >= 0; axis--) {
      strides[axis] = stride;
      stride *= type.shape().extent(axis);
    }
    return strides;
  }

  /** The common arguments of its kernel, after its blocks: dimensions of rows from the last on. */
  List<String> sizes(Matrix result, Matrix x) {
    List<Long> sizes =
        new ArrayList<>(
            List.of(
                result.rows(),
                result.columns(),
                x.columns(),
                start,
                steps.getLast(),
                extents.size() - 1L));
    for (int axis = extents.size() - 2; axis >= 0; axis--) {
      sizes.add(extents.get(axis));
      sizes.add(steps.get(axis));
    }
    // Steps back are added modulo 2^32.
    return sizes.stream().map(size -> Integer.toUnsignedString(size.intValue())).toList();
  }
}
