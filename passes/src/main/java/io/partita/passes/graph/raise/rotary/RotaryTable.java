package io.partita.passes.graph.raise.rotary;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Conversion of tables of cosines and sines with an entry per feature to tables with an entry per
 * pair of features.
 */
final class RotaryTable {
  private static final int MAX_STEPS = 16;

  private RotaryTable() {}

  /**
   * Returns the table as {@code [batch or 1, seq, features]} for queries or keys {@code x [batch,
   * heads, seq, d]}; empty if it differs between heads.
   */
  static Optional<Value> forSequence(Value table, Value x, GraphEditor graph) {
    Shape wanted = x.type().shape();
    Shape shape = table.type().shape();
    while (shape.rank() < 4) {
      shape = shape.insert(0, Dim.ONE);
    }
    boolean fits =
        shape.rank() == 4
            && (shape.dim(0).is(1) || shape.dim(0).equals(wanted.dim(0)))
            && shape.dim(1).is(1)
            && shape.dim(2).equals(wanted.dim(2));
    return fits
        ? Optional.of(Parameters.reshaped(table, shape.without(1), graph))
        : Optional.empty();
  }

  /** Returns the first half of the last axis. */
  static Value firstHalf(Value table, GraphEditor graph) {
    Shape shape = table.type().shape();
    Shape half = shape.with(shape.rank() - 1, Dim.of(shape.fromEnd(0).value() / 2));
    return graph.add(
        new Movement.Slice(
            Collections.nCopies(shape.rank(), Dim.ZERO),
            half.dims(),
            Collections.nCopies(shape.rank(), 1L)),
        table);
  }

  /** Whether the last axis has an even extent and two equal halves, proven from its computation. */
  static boolean hasEqualHalves(Value table, GraphEditor graph) {
    return hasEqualHalves(table, graph, MAX_STEPS);
  }

  private static boolean hasEqualHalves(Value table, GraphEditor graph, int steps) {
    Node node = graph.definition(table).orElse(null);
    if (node == null || steps == 0 || !isEven(table)) {
      return false;
    }
    Optional<Tensor> data = node.constant();
    if (data.isPresent()) {
      return hasEqualHalves(data.get());
    }
    Dim last = table.type().shape().fromEnd(0);
    return switch (node.op()) {
      case Movement.Concat concat when concat.axis() == table.type().rank() - 1 ->
          node.operands().size() == 2 && graph.operand(node, 0) == graph.operand(node, 1);
      case Movement.Gather gather when gather.axis() < graph.operand(node, 0).type().rank() - 1 ->
          hasEqualHalves(graph.operand(node, 0), graph, steps - 1);
      case Movement.Reshape reshape -> keepsLast(node, last, graph, steps);
      case Movement.Broadcast broadcast -> keepsLast(node, last, graph, steps);
      case Movement.Slice slice -> keepsLast(node, last, graph, steps);
      case Movement.Transpose(List<Integer> permutation)
          when permutation.getLast() == permutation.size() - 1 ->
          keepsLast(node, last, graph, steps);
      case Elementwise elementwise -> {
        boolean all = true;
        for (Value operand : node.operands()) {
          all = all && (isOne(operand) || hasEqualHalves(graph.resolve(operand), graph, steps - 1));
        }
        yield all;
      }
      case Op other -> false;
    };
  }

  private static boolean keepsLast(Node node, Dim last, GraphEditor graph, int steps) {
    Value operand = graph.operand(node, 0);
    return operand.type().rank() > 0
        && operand.type().shape().fromEnd(0).equals(last)
        && hasEqualHalves(operand, graph, steps - 1);
  }

  private static boolean isOne(Value value) {
    return value.type().rank() == 0 || value.type().shape().fromEnd(0).is(1);
  }

  private static boolean isEven(Value table) {
    Shape shape = table.type().shape();
    return shape.rank() > 0 && shape.fromEnd(0).isStatic() && shape.fromEnd(0).value() % 2 == 0;
  }

  private static boolean hasEqualHalves(Tensor data) {
    int row = Math.toIntExact(data.shape().fromEnd(0).value());
    for (int start = 0; start < data.size(); start += row) {
      for (int i = start; i < start + row / 2; i++) {
        if (data.getDouble(i) != data.getDouble(i + row / 2)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Computes half of the table from halves of its operands; the table must have {@link
   * #hasEqualHalves equal halves}.
   */
  static Value halved(Value table, GraphEditor graph) {
    Node node = graph.definition(table).orElseThrow();
    Shape shape = table.type().shape();
    Dim half = Dim.of(shape.fromEnd(0).value() / 2);
    return switch (node.op()) {
      case Movement.Concat concat when concat.axis() == shape.rank() - 1 -> graph.operand(node, 0);
      case Movement.Gather gather ->
          graph.add(gather, halved(graph.operand(node, 0), graph), graph.operand(node, 1));
      case Movement.Reshape reshape ->
          graph.add(
              new Movement.Reshape(shape.with(shape.rank() - 1, half)),
              halved(graph.operand(node, 0), graph));
      case Movement.Broadcast broadcast ->
          graph.add(
              new Movement.Broadcast(shape.with(shape.rank() - 1, half)),
              halved(graph.operand(node, 0), graph));
      case Movement.Transpose transpose ->
          graph.add(transpose, halved(graph.operand(node, 0), graph));
      case Elementwise elementwise -> {
        List<Value> operands = new ArrayList<>();
        for (Value operand : graph.operands(node)) {
          operands.add(isOne(operand) ? operand : halved(operand, graph));
        }
        yield graph.add(elementwise, operands);
      }
      case Op other -> firstHalf(table, graph);
    };
  }

  /** Whether a slice takes {@code [from, to)} of the last axis, and all of the others. */
  static boolean takes(Movement.Slice slice, Shape of, long from, long to) {
    int last = of.rank() - 1;
    return slice.steps().stream().allMatch(step -> step == 1)
        && IntStream.range(0, last)
            .allMatch(
                axis ->
                    slice.starts().get(axis).is(0) && slice.sizes().get(axis).equals(of.dim(axis)))
        && slice.starts().get(last).is(from)
        && slice.sizes().get(last).is(to - from);
  }
}
