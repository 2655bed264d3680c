package io.partita.passes.graph.state;

import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Replaces joins by caches. A cache holds keys and values in the form that attentions take, so
 * slices, transposes and reshapes of a join are moved before the cache. A join of which attentions
 * take several parts becomes several caches.
 */
final class CachePlaces {
  private final GraphEditor graph;
  private final Dim past;
  private final Position position;
  private final Dim batch;
  private final Module.Room room;
  private final Map<Value, List<Node>> readers = new IdentityHashMap<>();
  private final List<Module.State> states = new ArrayList<>();

  CachePlaces(GraphEditor graph, Dim past, Position position, Dim batch, Module.Room room) {
    this.room = room;
    this.graph = graph;
    this.past = past;
    this.position = position;
    this.batch = batch;
    for (Node node : graph.nodes()) {
      for (Value operand : graph.operands(node)) {
        readers.computeIfAbsent(operand, key -> new ArrayList<>()).add(node);
      }
    }
  }

  List<Module.State> states() {
    return states;
  }

  /** A part of a join: its original value, the part of new tokens, and the token axis. */
  private record Part(Value value, Value fresh, int axis) {}

  void replace(Join join) {
    List<Part> parts = new ArrayList<>();
    collect(new Part(join.node().result(), join.fresh(), join.axis()), parts);
    graph.before(join.node());
    for (int i = 0; i < parts.size(); i++) {
      keep(parts.get(i), i, join);
    }
  }

  /** Returns the parts with uses other than movements, beginning with {@code part}. */
  private void collect(Part part, List<Part> parts) {
    List<Node> reading = readers.getOrDefault(part.value(), List.of());
    boolean isMovedOnly =
        !reading.isEmpty()
            && reading.stream().allMatch(node -> axisAfter(node, part.axis()).isPresent());
    if (!isMovedOnly) {
      parts.add(part);
      return;
    }
    for (Node node : reading) {
      graph.before(node);
      Op moved = DimensionBinding.bind(node.op(), Map.of(past.toString(), Dim.ZERO));
      Value fresh = graph.add(moved, part.fresh());
      collect(new Part(node.result(), fresh, axisAfter(node, part.axis()).getAsInt()), parts);
    }
  }

  /** Returns the token axis after a movement that keeps it whole. */
  private OptionalInt axisAfter(Node node, int axis) {
    Shape from = graph.operand(node, 0).type().shape();
    return switch (node.op()) {
      case Movement.Transpose(var permutation) -> OptionalInt.of(permutation.indexOf(axis));
      case Movement.Slice slice
          when slice.starts().get(axis).is(0)
              && slice.sizes().get(axis).equals(from.dim(axis))
              && slice.steps().get(axis) == 1 ->
          OptionalInt.of(axis);
      case Movement.Reshape(Shape to) -> TokenAxis.afterReshape(from, axis, to);
      case Op other -> OptionalInt.empty();
    };
  }

  private void keep(Part part, int index, Join join) {
    Value value = part.value();
    String suffix = index == 0 ? "" : "." + index;
    if (part.axis() == 0) {
      throw KvStatePass.noCache(
          "input \"" + join.past().name() + "\"",
          "past tokens along an axis after the first",
          join.past().type().toString());
    }
    if (value.definition() != null) {
      graph.from(value.definition());
    }
    Value state =
        index == 0
            ? graph.retypeInput(join.past(), value.type())
            : graph.addInput(join.past().name() + suffix, value.type());
    Value after =
        graph.add(
            new Structured.CacheUpdate(part.axis(), false),
            state,
            part.fresh(),
            position.startsFor(value.type().dim(0), batch, graph));
    String output = join.output() + suffix;
    if (index == 0) {
      graph.setOutput(output, after);
    } else {
      graph.addOutput(output, after);
    }
    graph.replace(value, after);
    states.add(new Module.State(state.name(), output, Optional.of(room)));
    for (Graph.Output other : graph.outputs()) {
      if (!other.name().equals(output) && other.value() == graph.resolve(value)) {
        graph.removeOutput(other.name());
      }
    }
  }
}
