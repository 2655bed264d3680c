package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Movement;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A value as elements of another: element {@code (i, j, k, l)} is the one at {@code start + i
 * steps[0] + … + l steps[3]}.
 *
 * @param extents of the four dimensions
 */
record Rearrangement(long start, long[] extents, long[] steps) {
  private static final int RANK = 4;

  /** The rearrangement that a node computes, if it has at most four dimensions. */
  static Optional<Rearrangement> of(Node node) {
    TensorType type = node.result().type();
    if (node.operands().isEmpty()) {
      return Optional.empty();
    }
    long[] strides = strides(node.operand(0).type());
    return switch (node.op()) {
      case Movement.Reshape reshape -> of(0, type, strides(type));
      case Movement.Transpose(List<Integer> permutation) ->
          of(0, type, permutation.stream().mapToLong(axis -> strides[axis]).toArray());
      case Movement.Slice slice -> {
        long start = 0;
        for (int axis = 0; axis < strides.length; axis++) {
          start += slice.starts().get(axis).value() * strides[axis];
          strides[axis] *= slice.steps().get(axis);
        }
        boolean isForward = slice.steps().stream().allMatch(step -> step > 0);
        yield isForward ? of(start, type, strides) : Optional.empty();
      }
      default -> Optional.empty();
    };
  }

  /** Adds dimensions of extent 1, and drops leading ones. */
  private static Optional<Rearrangement> of(long start, TensorType type, long[] steps) {
    List<Long> extents = new ArrayList<>();
    List<Long> kept = new ArrayList<>();
    for (int axis = 0; axis < steps.length; axis++) {
      long extent = type.shape().extent(axis);
      if (extent != 1 || axis == steps.length - 1) {
        extents.add(extent);
        kept.add(steps[axis]);
      }
    }
    while (extents.size() < RANK) {
      extents.addFirst(1L);
      kept.addFirst(0L);
    }
    return extents.size() > RANK
        ? Optional.empty()
        : Optional.of(new Rearrangement(start, longs(extents), longs(kept)));
  }

  private static long[] longs(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).toArray();
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

  /** The common arguments of its kernel, after its blocks. */
  List<String> sizes(Matrix result, Matrix x) {
    List<Long> sizes =
        new ArrayList<>(
            List.of(result.rows(), result.columns(), x.columns(), extents[1], extents[2], start));
    Arrays.stream(steps).forEach(sizes::add);
    return sizes.stream().map(Object::toString).toList();
  }
}
