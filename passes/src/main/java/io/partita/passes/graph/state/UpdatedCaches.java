package io.partita.passes.graph.state;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Caches of a fixed capacity in the exported model: an input with room for all tokens, in which the
 * model writes the new ones, and an output of the same type. The model computes positions and masks
 * itself, so that only the input and output become state.
 */
final class UpdatedCaches {
  private UpdatedCaches() {}

  /** Returns the states of a graph with such caches; empty if it has none. */
  static List<Module.State> of(Graph graph) {
    Set<Value> attended = Decoder.attended(graph);
    List<Module.State> states = new ArrayList<>();
    for (Graph.Output output : graph.outputs()) {
      Value value = output.value();
      Value cache = value;
      while (!cache.isInput() && isUpdate(cache.definition())) {
        cache = cache.definition().operand(0);
      }
      String name = cache.name();
      boolean isCache =
          cache != value
              && cache.isInput()
              && cache.type().equals(value.type())
              && cache.type().rank() >= 3
              && cache.type().shape().range(1, cache.type().rank()).isStatic()
              && attended.contains(value)
              && states.stream().noneMatch(state -> state.input().equals(name));
      if (isCache) {
        Optional<Module.Room> room = capacity(value, graph);
        states.add(new Module.State(name, output.name(), room));
      }
    }
    return states;
  }

  /** Returns the capacity in tokens: the number of keys of its attention. */
  private static Optional<Module.Room> capacity(Value cache, Graph graph) {
    Set<Value> reached = Collections.newSetFromMap(new IdentityHashMap<>());
    reached.add(cache);
    for (Node node : graph.nodes()) {
      boolean reads = node.operands().stream().anyMatch(reached::contains);
      if (reads && node.op() instanceof Structured.Attention) {
        Dim keys = node.operand(1).type().dim(2);
        return keys.isStatic()
            ? Optional.of(new Module.Room(keys.value(), OptionalLong.empty()))
            : Optional.empty();
      }
      if (reads) {
        reached.addAll(node.results());
      }
    }
    return Optional.empty();
  }

  private static boolean isUpdate(Node node) {
    return switch (node.op()) {
      case Structured.CacheUpdate update -> true;
      case Movement.ScatterNd(var reduction) -> reduction == Combine.REPLACE;
      case Movement.ScatterElements(int axis, var reduction) -> reduction == Combine.REPLACE;
      case Op other -> false;
    };
  }
}
