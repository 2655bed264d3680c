package io.partita.ir.propagate;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorSplits;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Propagates layouts from some values to all, in three steps. First, splits are propagated in both
 * directions. Then partial values follow in execution order: their reduction is delayed as long as
 * all users accept partial operands and none makes them larger, so that a bias or a skip connection
 * is added to a partial sum before devices communicate. Values at one place of an axis are
 * propagated too: their users run there, up to a value with another demand, or a user that is split
 * over the axis, for which they are broadcast or scattered. Last, in reverse order, a value that
 * would be replicated along an axis and is used at one place only is computed only there: so only
 * the devices of a pipeline stage hold its weights. Except for those that begin or end a variation,
 * no operation is treated by name.
 */
public final class LayoutPropagation {
  private final Graph graph;
  private final Mesh mesh;
  private final LayoutDemands demands;
  private final Map<Value, Layout> pinned;
  private final Map<Value, Layout> layouts = new IdentityHashMap<>();
  private final Map<Node, NodeLayouts> nodes = new IdentityHashMap<>();
  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());
  private final SplitPropagation propagation;
  private Map<Node, FactorSplits> factors = Map.of();

  private LayoutPropagation(Graph graph, Mesh mesh, LayoutDemands demands) {
    this.graph = graph;
    this.mesh = mesh;
    this.demands = demands;
    this.pinned = demands.pinned();
    this.readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
    this.propagation = new SplitPropagation(graph, mesh, demands);
  }

  /**
   * Returns the layouts of all values.
   *
   * @param pinned the fixed layouts
   * @throws PartitaException with {@link MeshCode#UNBOUND} if a dimension isn't a number, {@link
   *     MeshCode#LAYOUT_TYPE} if a given layout doesn't fit, {@link MeshCode#RESHARD} if a varying
   *     value would have to be whole
   */
  public static LayoutPlan run(Graph graph, Mesh mesh, Map<Value, Layout> pinned) {
    return run(graph, mesh, LayoutDemands.of(pinned));
  }

  /** Like {@link #run(Graph, Mesh, Map)}, with further demands. */
  public static LayoutPlan run(Graph graph, Mesh mesh, LayoutDemands demands) {
    verify(graph, demands.pinned());
    demands
        .splits()
        .forEach(
            (value, splits) ->
                Layout.replicated(mesh, splits.size()).with(splits).verify(value.type()));
    return new LayoutPropagation(graph, mesh, demands).run();
  }

  private static void verify(Graph graph, Map<Value, Layout> pinned) {
    BoundDimensions.require(graph);
    pinned.forEach((value, layout) -> layout.verify(value.type()));
  }

  private LayoutPlan run() {
    factors = propagation.run();
    for (Value input : graph.inputs()) {
      Layout found = Layout.replicated(mesh, input.type().rank()).with(propagation.splits(input));
      layouts.put(input, pinned.getOrDefault(input, demanded(agreed(input, found), input)));
    }
    for (Node node : graph.nodes()) {
      place(node);
    }
    graph.nodes().reversed().forEach(this::settle);
    graph.inputs().forEach(this::settle);
    return new LayoutPlan(graph, mesh, layouts, nodes, places(), propagation.conflicts());
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
      Layout layout = spread(layouts.get(operand), splits);
      given.add(grows(node, operand) ? layout.withPartial(Map.of()) : layout);
    }
    NodeLayouts found = layouts(node, splits, given);
    nodes.put(node, found);
    for (int i = 0; i < node.results().size(); i++) {
      hold(node.results().get(i), found.results().get(i));
    }
  }

  private static NodeLayouts layouts(Node node, FactorSplits splits, List<Layout> given) {
    try {
      return NodeLayouts.of(node.op(), splits, given);
    } catch (PartitaException e) {
      throw new PartitaException(LayoutDerivation.at("node " + node, e));
    }
  }

  /** Whether resharding one value is cheaper than removing the splits of a node. */
  private static Layout spread(Layout layout, FactorSplits splits) {
    Map<String, Integer> places = new LinkedHashMap<>(layout.at());
    places.keySet().removeAll(splits.axes());
    return layout.withAt(places);
  }

  /** Gives a value without operands the layout that its users need, if they agree. */
  private Layout agreed(Value value, Layout found) {
    return allSplit(value, found.splits()) ? found : Layout.replicated(mesh, found.rank());
  }

  /** Whether no user splits a value otherwise. */
  private boolean allSplit(Value value, List<Split> splits) {
    for (Node reader : readers.getOrDefault(value, List.of())) {
      for (int i = 0; i < reader.operands().size(); i++) {
        boolean reads = reader.operand(i) == value;
        if (reads && !factors.get(reader).operand(i).splits().equals(splits)) {
          return false;
        }
      }
    }
    return true;
  }

  private void hold(Value value, Layout produced) {
    Layout held = pinned.get(value);
    if (held == null) {
      held = mayWait(value, produced) ? produced : joined(value, produced);
      held = demanded(held, value);
    }
    layouts.put(value, held);
  }

  /**
   * Returns the layout of a value whose terms have been joined: split along their axes, perhaps
   * within the parts that it has, if all users split it so, and otherwise whole along them.
   */
  private Layout joined(Value value, Layout produced) {
    Layout whole = produced.withPartial(Map.of());
    List<Split> splits = new ArrayList<>(whole.splits());
    List<Split> found = propagation.splits(value);
    for (int dim = 0; dim < splits.size(); dim++) {
      Split before = splits.get(dim);
      Split part = found.get(dim);
      boolean scatters =
          part.refines(mesh, before)
              && produced
                  .partial()
                  .keySet()
                  .containsAll(part.axes().subList(before.axes().size(), part.axes().size()));
      splits.set(dim, scatters ? part : before);
    }
    return readers.containsKey(value) && allSplit(value, splits) ? whole.with(splits) : whole;
  }

  /** Returns the layout, whole over some axes and at its place on others. */
  private Layout demanded(Layout layout, Value value) {
    Set<String> axes = demands.unsplitAxes(value);
    if (axes.isEmpty()) {
      return layout;
    }
    Map<String, ReductionKind> partial = new LinkedHashMap<>(layout.partial());
    partial.keySet().removeAll(axes);
    Map<String, Integer> at = new LinkedHashMap<>(layout.at());
    at.keySet().removeAll(axes);
    at.putAll(demands.places().getOrDefault(value, Map.of()));
    return layout.with(propagation.kept(value, layout.splits())).withPartial(partial).withAt(at);
  }

  private boolean mayWait(Value value, Layout produced) {
    if (produced.partial().isEmpty()) {
      return true;
    }
    if (outputs.contains(value)) {
      return false;
    }
    List<Node> all = readers.getOrDefault(value, List.of());
    return all.stream().anyMatch(reader -> needsTerms(reader, produced))
        || all.stream().allMatch(reader -> takes(reader, value, produced) && !grows(reader, value));
  }

  /** Whether any user accepts the partial value; the others reduce it for themselves. */
  private static boolean needsTerms(Node reader, Layout produced) {
    return reader.op() instanceof Communication.Localize(String axis)
            && produced.partial().containsKey(axis)
        || reader.op() instanceof Communication.Settle(String along, Exit.Term term)
            && produced.partial().containsKey(along)
            && produced.varying().contains(along);
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

  /** Runs a node only where its results are needed, along axes on which it is replicated. */
  private void settle(Node node) {
    Map<String, Integer> places = null;
    for (Value result : node.results()) {
      settle(result);
      Map<String, Integer> needed = pinned.getOrDefault(result, layouts.get(result)).at();
      boolean counts = pinned.containsKey(result) || isUsed(result);
      places = !counts ? places : places == null ? needed : common(places, needed);
    }
    if (places != null) {
      Map<String, Integer> free = new LinkedHashMap<>(places);
      free.keySet().removeIf(axis -> !nodes.get(node).isFree(axis));
      nodes.put(node, nodes.get(node).at(free));
    }
  }

  /** Holds a value that is replicated along an axis only where its users need it. */
  private void settle(Value value) {
    if (pinned.containsKey(value) || outputs.contains(value) || !isUsed(value)) {
      return;
    }
    Map<String, Integer> places = null;
    for (Node reader : readers.get(value)) {
      for (int i = 0; i < reader.operands().size(); i++) {
        if (reader.operand(i) == value) {
          Map<String, Integer> needed = nodes.get(reader).operands().get(i).at();
          places = places == null ? needed : common(places, needed);
        }
      }
    }
    Layout held = layouts.get(value);
    for (Map.Entry<String, Integer> place : places.entrySet()) {
      boolean isWhole = demands.whole().getOrDefault(value, Set.of()).contains(place.getKey());
      if (!held.uses(place.getKey()) && !isWhole) {
        held = held.withAt(place.getKey(), place.getValue());
      }
    }
    layouts.put(value, held);
  }

  private boolean isUsed(Value value) {
    return outputs.contains(value) || !readers.getOrDefault(value, List.of()).isEmpty();
  }

  private static Map<String, Integer> common(
      Map<String, Integer> left, Map<String, Integer> right) {
    Map<String, Integer> common = new LinkedHashMap<>(left);
    common.entrySet().retainAll(right.entrySet());
    return common;
  }

  private List<ReshardPlace> places() {
    Map<Value, Map<Layout, List<Node>>> changes = new IdentityHashMap<>();
    for (Node node : graph.nodes()) {
      for (int i = 0; i < node.operands().size(); i++) {
        Value operand = node.operand(i);
        Layout needed = nodes.get(node).operands().get(i);
        if (!needed.equals(layouts.get(operand))) {
          changes
              .computeIfAbsent(operand, key -> new LinkedHashMap<>())
              .computeIfAbsent(needed, key -> new ArrayList<>())
              .add(node);
        }
      }
    }
    List<ReshardPlace> places = new ArrayList<>();
    graph.inputs().forEach(input -> addReaders(input, changes, places));
    for (Node node : graph.nodes()) {
      for (int i = 0; i < node.results().size(); i++) {
        Value value = node.results().get(i);
        Layout produced = nodes.get(node).results().get(i);
        if (!produced.equals(layouts.get(value))) {
          Resharding change = new Resharding(produced, layouts.get(value));
          places.add(new ReshardPlace(value, change, List.of()));
        }
        addReaders(value, changes, places);
      }
    }
    return places;
  }

  private void addReaders(
      Value value, Map<Value, Map<Layout, List<Node>>> changes, List<ReshardPlace> places) {
    changes
        .getOrDefault(value, Map.of())
        .forEach(
            (to, users) ->
                places.add(new ReshardPlace(value, new Resharding(layouts.get(value), to), users)));
  }
}
