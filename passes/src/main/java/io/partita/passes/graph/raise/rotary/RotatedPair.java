package io.partita.passes.graph.raise.rotary;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/** The rotation of pairs of features, made from the matched parts of its subgraph. */
final class RotatedPair {
  private static final List<Integer> SWAP_HEADS = List.of(0, 2, 1, 3);

  private RotatedPair() {}

  /** Whether two slices of x are its lower and its upper half along the last axis. */
  static boolean areHalves(Value x, Value low, Value high) {
    Shape shape = x.type().shape();
    Dim last = shape.fromEnd(0);
    if (!last.isStatic() || last.value() % 2 != 0) {
      return false;
    }
    long half = last.value() / 2;
    return low.definition().op() instanceof Movement.Slice first
        && high.definition().op() instanceof Movement.Slice second
        && RotaryTable.takes(first, shape, 0, half)
        && RotaryTable.takes(second, shape, half, 2 * half);
  }

  /** Whether two slices of x are its even and its odd features along the last axis. */
  static boolean areNeighbours(Value x, Value even, Value odd) {
    Dim last = x.type().shape().fromEnd(0);
    return last.isStatic()
        && last.value() % 2 == 0
        && takesEverySecond(even, x, 0)
        && takesEverySecond(odd, x, 1);
  }

  private static boolean takesEverySecond(Value part, Value x, long from) {
    if (!(part.definition().op() instanceof Movement.Slice slice)) {
      return false;
    }
    Shape shape = x.type().shape();
    int last = shape.rank() - 1;
    boolean isWhole = true;
    for (int axis = 0; axis < last; axis++) {
      isWhole =
          isWhole
              && slice.steps().get(axis) == 1
              && slice.starts().get(axis).is(0)
              && slice.sizes().get(axis).equals(shape.dim(axis));
    }
    return isWhole
        && slice.steps().get(last) == 2
        && slice.starts().get(last).is(from)
        && slice.sizes().get(last).is(shape.dim(last).value() / 2);
  }

  /**
   * Returns the rotation of {@code x [batch, heads, seq, d]}, or of {@code [batch, seq, heads, d]}
   * if the shapes of the tables fit that; empty if they fit neither.
   */
  static Optional<Value> rotate(
      Value x, Value cosines, Value sines, boolean interleaved, GraphEditor graph) {
    if (x.type().rank() != 4) {
      return Optional.empty();
    }
    Structured.RotaryEmbedding rotary = new Structured.RotaryEmbedding(interleaved);
    Optional<Value> c = RotaryTable.forSequence(cosines, x, graph);
    Optional<Value> s = RotaryTable.forSequence(sines, x, graph);
    if (c.isPresent() && s.isPresent() && c.get().type().equals(s.get().type())) {
      return Optional.of(graph.add(rotary, x, c.get(), s.get()));
    }
    Value byHead = graph.add(new Movement.Transpose(SWAP_HEADS), x);
    c = sequenceFirst(cosines, byHead, graph);
    s = sequenceFirst(sines, byHead, graph);
    return c.isPresent() && s.isPresent() && c.get().type().equals(s.get().type())
        ? Optional.of(
            graph.add(
                new Movement.Transpose(SWAP_HEADS), graph.add(rotary, byHead, c.get(), s.get())))
        : Optional.empty();
  }

  private static Optional<Value> sequenceFirst(Value table, Value byHead, GraphEditor graph) {
    Shape shape = table.type().shape();
    if (shape.rank() < 3) {
      return Optional.empty();
    }
    List<Integer> swap = shape.rank() == 3 ? List.of(1, 0, 2) : SWAP_HEADS;
    return shape.rank() > 4 || !shape.fromEnd(1).is(1)
        ? Optional.empty()
        : RotaryTable.forSequence(graph.add(new Movement.Transpose(swap), table), byHead, graph);
  }
}
