package io.partita.passes.graph.state;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.Optional;

/** Replaces the length of the past by the position in the computations of a model. */
final class PastLength {
  private final String symbol;
  private final Position position;
  private final GraphEditor graph;

  PastLength(String symbol, Position position, GraphEditor graph) {
    this.symbol = symbol;
    this.position = position;
    this.graph = graph;
  }

  void replace() {
    for (Node node : graph.nodes()) {
      if (graph.isLive(node)) {
        graph.before(node);
        replacement(node).ifPresent(value -> graph.replace(node.result(), value));
      }
    }
  }

  private Optional<Value> replacement(Node node) {
    return switch (node.op()) {
      case Source.Extent(Dim size) ->
          beyondPast(size).map(rest -> position.firstAfter(rest, graph));
      case Movement.Slice slice -> slice(node, slice);
      case Op other -> Optional.empty();
    };
  }

  /** Returns {@code size - past} if it does not depend on the past. */
  private Optional<Dim> beyondPast(Dim size) {
    Dim rest = size.minus(Dim.symbol(symbol));
    return size.symbols().contains(symbol) && !rest.symbols().contains(symbol)
        ? Optional.of(rest)
        : Optional.empty();
  }

  /**
   * Replaces a slice from the past on: {@code table[past:past+n] -> gather(table, position + [0,
   * n))}.
   */
  private Optional<Value> slice(Node node, Movement.Slice slice) {
    Shape shape = graph.operand(node, 0).type().shape();
    for (int axis = 0; axis < shape.rank(); axis++) {
      Optional<Dim> offset = beyondPast(slice.starts().get(axis));
      if (offset.isPresent() && slice.steps().get(axis) == 1 && isAll(slice, shape, axis)) {
        Value rows =
            graph.add(
                new Elementwise.Binary(BinaryFunction.ADD),
                graph.add(new Source.Iota(slice.sizes().get(axis), ElementType.I64)),
                position.firstAfter(offset.get(), graph));
        Value table = graph.operand(node, 0);
        boolean isRange =
            !table.isInput()
                && table.definition().op() instanceof Source.Iota iota
                && iota.element() == ElementType.I64;
        return Optional.of(isRange ? rows : graph.add(new Movement.Gather(axis), table, rows));
      }
    }
    return Optional.empty();
  }

  private static boolean isAll(Movement.Slice slice, Shape shape, int but) {
    for (int axis = 0; axis < shape.rank(); axis++) {
      boolean isWhole =
          slice.starts().get(axis).is(0) && slice.sizes().get(axis).equals(shape.dim(axis));
      if (axis != but && !isWhole) {
        return false;
      }
    }
    return true;
  }
}
