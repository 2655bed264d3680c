package io.partita.passes.graph.state;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Caches of a fixed capacity in the exported model: an input with room for all tokens, in which the
 * model writes the new ones, and an output of the same type. The model computes positions and masks
 * itself, so that only the input and output become state.
 *
 * <p>A model may also choose each position of the new cache from the cache or a new token, by a
 * {@code where} or by products with a one-hot vector. Elementwise operations do much else, so
 * attention must then read the result as it is.
 */
final class UpdatedCaches {
  private final Graph graph;
  private final Set<Value> attended;
  private final Set<Value> held;
  private final Map<Value, Optional<Value>> origins = new IdentityHashMap<>();

  private UpdatedCaches(Graph graph) {
    this.graph = graph;
    this.attended = Decoder.attended(graph);
    this.held = held(graph);
  }

  /** Returns the states of a graph with such caches; empty if it has none. */
  static List<Module.State> of(Graph graph) {
    UpdatedCaches caches = new UpdatedCaches(graph);
    List<Module.State> states = new ArrayList<>();
    for (Graph.Output output : graph.outputs()) {
      caches
          .cache(output.value())
          .map(Value::name)
          .filter(name -> states.stream().noneMatch(state -> state.input().equals(name)))
          .ifPresent(
              name ->
                  states.add(
                      new Module.State(name, output.name(), capacity(output.value(), graph))));
    }
    return states;
  }

  /** Returns the input that the value updates, if it is a cache. */
  private Optional<Value> cache(Value value) {
    if (value.isInput()
        || value.type().rank() < 3
        || !value.type().shape().range(1, value.type().rank()).isStatic()) {
      return Optional.empty();
    }
    Value written = value;
    while (!written.isInput() && isWritten(written.definition())) {
      written = written.definition().operand(0);
    }
    if (written != value && written.isInput()) {
      return attended.contains(value) ? Optional.of(written) : Optional.empty();
    }
    return held.contains(value) ? origin(value) : Optional.empty();
  }

  /** Returns the values that attentions read as keys or values, apart from movements. */
  private static Set<Value> held(Graph graph) {
    Set<Value> held = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Node node : graph.nodes().reversed()) {
      if (node.op() instanceof Structured.Attention) {
        held.addAll(node.operands().subList(1, 3));
      } else if (isMoved(node.op()) && held.contains(node.result())) {
        held.add(node.operand(0));
      }
    }
    return held;
  }

  private static boolean isMoved(Op op) {
    return op instanceof Movement.Reshape
        || op instanceof Movement.Transpose
        || op instanceof Movement.Broadcast;
  }

  /**
   * Returns the input of this type from which the value is computed by writing to it and element by
   * element.
   */
  private Optional<Value> origin(Value value) {
    if (value.isInput()) {
      return Optional.of(value);
    }
    Optional<Value> known = origins.get(value);
    if (known == null) {
      Node node = value.definition();
      boolean isChosen =
          node.op() instanceof Elementwise.Select || node.op() instanceof Elementwise.Binary;
      known =
          node.operands().stream()
              .limit(isChosen ? node.operands().size() : isWritten(node) ? 1 : 0)
              .filter(operand -> operand.type().equals(value.type()))
              .flatMap(operand -> origin(operand).stream())
              .findFirst();
      origins.put(value, known);
    }
    return known;
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

  private static boolean isWritten(Node node) {
    return switch (node.op()) {
      case Structured.CacheUpdate update -> true;
      case Movement.ScatterNd(var reduction) -> reduction == Combine.REPLACE;
      case Movement.ScatterElements(int axis, var reduction) -> reduction == Combine.REPLACE;
      case Op other -> false;
    };
  }
}
