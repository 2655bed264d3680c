package io.partita.ir.propagate;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorSplits;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.Resharding;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the layouts of all values from those of some, in two steps. Splits spread over the graph in
 * both directions. Then partial values follow in execution order: one waits to be joined as long as
 * all its readers take it partial and none makes it larger; so what is added to a partial sum (a
 * bias, a skip connection) is added before the devices communicate. Nothing here knows an operation
 * by name.
 */
public final class LayoutPropagation {
  private final Graph graph;
  private final Mesh mesh;
  private final Map<Value, Layout> pinned;
  private final Map<Value, Layout> layouts = new IdentityHashMap<>();
  private final Map<Node, NodeLayouts> nodes = new IdentityHashMap<>();
  private final Map<Value, Map<Layout, List<Node>>> changes = new IdentityHashMap<>();
  private final Map<Value, Resharding> atDefinition = new IdentityHashMap<>();
  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());
  private Map<Node, FactorSplits> factors = Map.of();

  private LayoutPropagation(Graph graph, Mesh mesh, Map<Value, Layout> pinned) {
    this.graph = graph;
    this.mesh = mesh;
    this.pinned = pinned;
    this.readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
  }

  /**
   * The layouts of all values.
   *
   * @param pinned the layouts that are given; they stay
   * @throws PartitaException with {@link MeshCode#UNBOUND} when a dimension isn't a number, {@link
   *     MeshCode#LAYOUT_TYPE} when a given layout doesn't fit, {@link MeshCode#RESHARD} when a
   *     varying value would have to be whole
   */
  public static LayoutPlan run(Graph graph, Mesh mesh, Map<Value, Layout> pinned) {
    verify(graph, pinned);
    return new LayoutPropagation(graph, mesh, pinned).run();
  }

  private static void verify(Graph graph, Map<Value, Layout> pinned) {
    List<Diagnostic> unbound = new ArrayList<>();
    List<Value> values = new ArrayList<>(graph.inputs());
    graph.nodes().forEach(node -> values.addAll(node.results()));
    for (Value value : values) {
      if (!value.type().isStatic()) {
        unbound.add(LayoutDerivation.unbound(value, "value " + value.name()));
      }
    }
    if (!unbound.isEmpty()) {
      throw new PartitaException(unbound);
    }
    pinned.forEach((value, layout) -> layout.verify(value.type()));
  }

  private LayoutPlan run() {
    SplitPropagation splits = new SplitPropagation(graph, mesh, pinned);
    factors = splits.run();
    for (Value input : graph.inputs()) {
      Layout found = Layout.replicated(mesh, input.type().rank()).with(splits.splits(input));
      layouts.put(input, pinned.getOrDefault(input, agreed(input, found)));
    }
    for (Node node : graph.nodes()) {
      place(node);
    }
    return new LayoutPlan(graph, mesh, layouts, nodes, places(), splits.conflicts());
  }

  private void place(Node node) {
    FactorSplits splits = factors.get(node);
    if (node.operands().isEmpty() && !pinned.containsKey(node.results().getFirst())) {
      Layout found = splits.result(0);
      if (!agreed(node.results().getFirst(), found).equals(found)) {
        splits = FactorSplits.none(mesh, splits.rule());
      }
    }
    List<Layout> given = new ArrayList<>();
    for (Value operand : node.operands()) {
      Layout layout = layouts.get(operand);
      given.add(grows(node, operand) ? layout.withPartial(Map.of()) : layout);
    }
    NodeLayouts found = NodeLayouts.resolve(splits, given);
    nodes.put(node, found);
    for (int i = 0; i < node.operands().size(); i++) {
      Value operand = node.operand(i);
      Layout needed = found.operands().get(i);
      if (!needed.equals(layouts.get(operand))) {
        changes
            .computeIfAbsent(operand, key -> new LinkedHashMap<>())
            .computeIfAbsent(needed, key -> new ArrayList<>())
            .add(node);
      }
    }
    for (int i = 0; i < node.results().size(); i++) {
      hold(node.results().get(i), found.results().get(i));
    }
  }

  /** What needs no operands can be had on each device as its readers want, if they agree. */
  private Layout agreed(Value value, Layout found) {
    for (Node reader : readers.getOrDefault(value, List.of())) {
      for (int i = 0; i < reader.operands().size(); i++) {
        boolean reads = reader.operand(i) == value;
        if (reads && !factors.get(reader).operand(i).splits().equals(found.splits())) {
          return Layout.replicated(mesh, found.rank());
        }
      }
    }
    return found;
  }

  private void hold(Value value, Layout produced) {
    Layout held = pinned.get(value);
    if (held == null) {
      held = mayWait(value, produced) ? produced : produced.withPartial(Map.of());
    }
    layouts.put(value, held);
    if (!held.equals(produced)) {
      atDefinition.put(value, new Resharding(produced, held));
    }
  }

  private boolean mayWait(Value value, Layout produced) {
    if (produced.partial().isEmpty()) {
      return true;
    }
    if (outputs.contains(value)) {
      return false;
    }
    return readers.getOrDefault(value, List.of()).stream()
        .allMatch(reader -> takes(reader, value, produced) && !grows(reader, value));
  }

  private boolean takes(Node reader, Value value, Layout produced) {
    FactorSplits splits = factors.get(reader);
    FactorRule rule = splits.rule();
    for (int i = 0; i < reader.operands().size(); i++) {
      if (reader.operand(i) == value
          && (rule.linearity().termOf(i) < 0
              || !rule.linearity().kinds().contains(produced.reduction())
              || !Collections.disjoint(splits.axes(), produced.partial().keySet()))) {
        return false;
      }
    }
    return true;
  }

  private static boolean grows(Node reader, Value operand) {
    long most =
        reader.results().stream().mapToLong(r -> r.type().shape().elements()).max().orElse(0);
    return most > operand.type().shape().elements();
  }

  private List<ReshardPlace> places() {
    List<ReshardPlace> places = new ArrayList<>();
    graph.inputs().forEach(input -> addPlaces(input, places));
    graph.nodes().forEach(node -> node.results().forEach(value -> addPlaces(value, places)));
    return places;
  }

  private void addPlaces(Value value, List<ReshardPlace> places) {
    Resharding defined = atDefinition.get(value);
    if (defined != null) {
      places.add(new ReshardPlace(value, defined, List.of()));
    }
    changes
        .getOrDefault(value, Map.of())
        .forEach(
            (to, users) ->
                places.add(new ReshardPlace(value, new Resharding(layouts.get(value), to), users)));
  }
}
