package io.partita.passes.graph.state;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.List;

/**
 * The tables of a decoder whose rows are taken by position, such as learned position embeddings: a
 * cache must not have room for more tokens than they have rows.
 */
final class PositionRows {
  private final Positional positional;
  private final List<Node> nodes = new ArrayList<>();
  private final List<Value> indices = new ArrayList<>();
  private final List<Long> rows = new ArrayList<>();

  PositionRows(GraphEditor graph, Positional positional) {
    this.positional = positional;
    for (Node node : graph.nodes()) {
      int axis = axis(node.op());
      if (axis >= 0 && positional.contains(graph.operand(node, 1))) {
        Dim extent = graph.operand(node, 0).type().dim(axis);
        if (extent.isStatic()) {
          nodes.add(node);
          indices.add(graph.operand(node, 1));
          rows.add(extent.value());
        }
      }
    }
  }

  private static int axis(Op op) {
    return switch (op) {
      case Movement.Gather(int axis) -> axis;
      case Structured.Embedding embedding -> 0;
      default -> -1;
    };
  }

  /**
   * Finds the first position without a row by halving, as positions grow.
   *
   * @throws CapacityBeyondModel when there is one
   */
  void require(long capacity, Dim fresh) {
    boolean isOpen =
        indices.isEmpty()
            || !fresh.isStatic()
            || fresh.value() > capacity
            || !positional.sweep(indices, 0, (at, values) -> {}).isEmpty();
    if (isOpen || exist(capacity - fresh.value())) {
      return;
    }
    long exists = -1;
    long fails = capacity - fresh.value();
    while (fails - exists > 1) {
      long middle = (exists + fails) / 2;
      if (exist(middle)) {
        exists = middle;
      } else {
        fails = middle;
      }
    }
    int table = missing(fails);
    throw new CapacityBeyondModel(
        fails + fresh.value() - 1,
        rows.get(table) + " rows of positions, at node \"" + nodes.get(table).name() + "\"");
  }

  private boolean exist(long position) {
    return missing(position) < 0;
  }

  /** A table without all the rows that are taken when the first new token is at a position. */
  private int missing(long position) {
    List<Tensor> values = positional.at(indices, position);
    for (int table = 0; table < values.size(); table++) {
      for (int i = 0; i < values.get(table).size(); i++) {
        long index = values.get(table).getLong(i);
        if (index >= rows.get(table) || index < -rows.get(table)) {
          return table;
        }
      }
    }
    return -1;
  }
}
