package io.partita.passes.graph.state;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.passes.graph.raise.attention.AttentionChange;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Converts attentions over growing caches to attentions over caches of fixed capacity. */
final class Conversion {
  private final GraphEditor graph;
  private final Dim past;
  private final Dim fresh;
  private final long capacity;
  private final List<Join> joins;
  private final FilledInputs filled;
  private final CapacityValues lengthened;
  private final Map<MaskForm, Value> biases = new IdentityHashMap<>();
  private Position position;
  private Optional<Node> lookingAhead = Optional.empty();

  /**
   * @param joins the joins of new keys and values with past ones; not empty
   */
  Conversion(GraphEditor graph, List<Join> joins, long capacity) {
    this.graph = graph;
    this.joins = joins;
    this.past = joins.getFirst().pastLength();
    this.fresh = joins.getFirst().newLength();
    this.capacity = capacity;
    this.lengthened = new CapacityValues(graph, past.plus(fresh));
    Set<Value> caches = Collections.newSetFromMap(new IdentityHashMap<>());
    joins.forEach(join -> caches.add(join.past()));
    this.filled = new FilledInputs(graph.inputs(), caches, past.toString());
  }

  FilledInputs filled() {
    return filled;
  }

  CapacityValues lengthened() {
    return lengthened;
  }

  /** Returns an attention in which a new token attends to a later one. */
  Optional<Node> lookingAhead() {
    return lookingAhead;
  }

  List<Module.State> convert() {
    graph.before(graph.nodes().getFirst());
    Dim batch = batch();
    position = Position.of(graph, batch);
    requirePositions();
    OptionalLong positions = new PositionRows(graph, positional()).require(capacity, fresh);
    List<Attended> attentions = new ArrayList<>();
    MaskReader masks = new MaskReader(graph, past, fresh, capacity, filled, positional());
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Structured.Attention && isCached(node)) {
        attentions.add(new Attended(node, masks.read(node)));
      }
    }
    lookingAhead =
        attentions.stream()
            .filter(attended -> fresh.isStatic() && attended.mask().seesLater(fresh.value()))
            .map(Attended::node)
            .findFirst();
    attentions.forEach(attended -> convert(attended.node(), attended.mask()));
    CachePlaces places =
        new CachePlaces(graph, past, position, batch, new Module.Room(capacity, positions));
    joins.forEach(places::replace);
    replaceClosedValues();
    new PastLength(past.toString(), position, graph).replace();
    return places.states();
  }

  private record Attended(Node node, MaskForm mask) {}

  private Positional positional() {
    return new Positional(graph, past.toString(), filled);
  }

  private boolean isCached(Node attention) {
    return graph.operand(attention, 1).type().dim(2).symbols().contains(past.toString());
  }

  private Dim batch() {
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Structured.Attention && isCached(node))
        .map(node -> graph.operand(node, 0).type().dim(0))
        .findFirst()
        .orElse(joins.getFirst().past().type().dim(0));
  }

  private void convert(Node node, MaskForm mask) {
    graph.before(node);
    List<Value> operands = new ArrayList<>(graph.operands(node).subList(0, 3));
    AttentionChange change =
        AttentionChange.of((Structured.Attention) node.op()).withoutMask().nonCausal();
    if (mask.bias().isPresent()) {
      operands.add(biases.computeIfAbsent(mask, this::bias));
      change = change.withMask();
    }
    operands.add(position.after(fresh, graph));
    AttentionChange placed =
        mask.causal() ? change.causalAtKeyLength(mask.window()) : change.keyLength();
    graph.replace(node.result(), graph.add(placed.op(), operands));
  }

  private Value bias(MaskForm mask) {
    return lengthened.open(MaskOperand.of(mask.bias().orElseThrow(), fresh, position, graph));
  }

  /** Checks that caches that the model itself updates are written at the first new position. */
  private void requirePositions() {
    List<Value> starts = new ArrayList<>();
    List<Value> kept = new ArrayList<>();
    joins.forEach(join -> join.start().ifPresent(starts::add));
    joins.forEach(join -> kept.addAll(join.kept()));
    List<Value> needed = new ArrayList<>(starts);
    needed.addAll(kept);
    if (needed.isEmpty()) {
      return;
    }
    Positional positional = positional();
    for (Value value : needed) {
      if (!positional.contains(value)) {
        throw unplaced(value, "a value that is known only at run time");
      }
    }
    MaskReader.requireNumbers(new TreeSet<>(fresh.symbols()), joins.getFirst().node());
    SortedSet<String> open =
        positional.sweep(
            needed,
            capacity - fresh.value(),
            (at, values) -> {
              for (int i = 0; i < values.size(); i++) {
                Tensor tensor = values.get(i);
                double expected = i < starts.size() ? at : 1;
                if (tensor.size() > 0 && !tensor.isFilledWith(expected)) {
                  throw unplaced(needed.get(i), "another position after " + at + " tokens");
                }
              }
            });
    MaskReader.requireNumbers(open, joins.getFirst().node());
  }

  private static RuntimeException unplaced(Value value, String found) {
    String where =
        value.isInput() ? "input \"" + value.name() : "node \"" + value.definition().name();
    return KvStatePass.noCache(
        where + "\"", "new keys and values after those of past tokens", found);
  }

  /**
   * Replaces values whose type is the same at all positions, but that are computed from others
   * whose type is not, such as a sum over a mask.
   */
  private void replaceClosedValues() {
    Positional positional = positional();
    List<Value> values = new ArrayList<>();
    for (Node node : graph.nodes()) {
      boolean isFirst =
          node.results().size() == 1
              && positional.contains(node.result())
              && !isOpen(node.result())
              && node.operands().stream().anyMatch(operand -> isOpen(graph.resolve(operand)));
      if (isFirst) {
        values.add(node.result());
      }
    }
    if (values.isEmpty()) {
      return;
    }
    List<ValueSweep> sweeps = values.stream().map(value -> new ValueSweep()).toList();
    MaskReader.requireNumbers(fresh.symbols(), joins.getFirst().node());
    SortedSet<String> open =
        positional.sweep(
            values,
            capacity - fresh.value(),
            (at, tensors) -> {
              for (int i = 0; i < tensors.size(); i++) {
                sweeps.get(i).accept(at, tensors.get(i));
              }
            });
    for (int i = 0; i < values.size() && open.isEmpty(); i++) {
      Value value = values.get(i);
      graph.before(value.definition());
      sweeps.get(i).value(position, graph).ifPresent(brief -> graph.replace(value, brief));
    }
  }

  private boolean isOpen(Value value) {
    return value.type().shape().dims().stream()
        .anyMatch(dim -> dim.symbols().contains(past.toString()));
  }
}
