package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A join of new keys or values with those of past tokens: a concatenation, or a cache update at a
 * position that the model computes.
 *
 * @param past the graph input of past keys, values or both
 * @param node the concatenation or cache update
 * @param fresh the new keys or values
 * @param axis the token axis
 * @param output the output that passes the joined or the new ones to the next run
 * @param start the position of a cache update; empty for a concatenation
 * @param kept the conditions under which the past is used, all of which must hold everywhere
 */
record Join(
    Value past,
    Node node,
    Value fresh,
    int axis,
    String output,
    Optional<Value> start,
    List<Value> kept) {

  /** Returns the joins of a graph, in its order. */
  static List<Join> all(GraphEditor graph) {
    List<Join> joins = new ArrayList<>();
    for (Node node : graph.nodes()) {
      of(node, graph).ifPresent(joins::add);
    }
    return joins;
  }

  private static Optional<Join> of(Node node, GraphEditor graph) {
    return switch (node.op()) {
      case Movement.Concat(int axis) when node.operands().size() == 2 -> {
        Value past = graph.operand(node, 0);
        yield past.isInput() && past.type().rank() >= 3
            ? of(node, past, axis, Optional.empty(), List.of(), graph)
            : Optional.empty();
      }
      case Structured.CacheUpdate(int axis, boolean circular) when !circular -> {
        List<Value> kept = new ArrayList<>();
        Value past = unfilled(graph.operand(node, 0), axis, kept, graph);
        yield past.isInput()
            ? of(node, past, axis, Optional.of(graph.operand(node, 2)), kept, graph)
            : Optional.empty();
      }
      case Op other -> Optional.empty();
    };
  }

  private static Optional<Join> of(
      Node node, Value past, int axis, Optional<Value> start, List<Value> kept, GraphEditor graph) {
    Value fresh = graph.operand(node, 1);
    return graph.outputs().stream()
        .filter(output -> output.value() == node.result() || output.value() == fresh)
        .map(Graph.Output::name)
        .findFirst()
        .map(name -> new Join(past, node, fresh, axis, name, start, kept));
  }

  /** Returns the value to which the model appended room, and of which it selects the valid part. */
  private static Value unfilled(Value cache, int axis, List<Value> kept, GraphEditor graph) {
    Value at = cache;
    while (graph.definition(at).orElse(null) instanceof Node node) {
      if (node.op() instanceof Movement.Concat(int along) && along == axis) {
        at = graph.operand(node, 0);
      } else if (node.op() instanceof Elementwise.Select) {
        kept.add(graph.operand(node, 0));
        at = graph.operand(node, 1);
      } else {
        break;
      }
    }
    return at;
  }

  Dim pastLength() {
    return past.type().dim(axis);
  }

  Dim newLength() {
    return fresh.type().dim(axis);
  }
}
