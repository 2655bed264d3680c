package io.partita.ir.propagate;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Builds the module of the mesh dialect of a plan: the same graph with a sync wherever the plan
 * changes a layout. A change for all users follows the definition, and one for some users precedes
 * the first of them, once for each layout; so reductions are as late as possible.
 */
public final class SyncInsertion {
  private final LayoutPlan plan;
  private final GraphBuilder builder;
  private final LayoutDerivation derivation;

  /** The replacement of each value of the plan's graph, by layout. */
  private final Map<Value, Map<Layout, Value>> copies = new IdentityHashMap<>();

  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());

  private SyncInsertion(LayoutPlan plan) {
    this.plan = plan;
    this.builder = new GraphBuilder(plan.graph().name());
    this.derivation = new LayoutDerivation(plan.mesh());
    this.readers = plan.graph().readers();
    plan.graph().outputs().forEach(output -> outputs.add(output.value()));
  }

  /**
   * Returns the module, for which {@link LayoutInference} gives the layouts of the plan. Outputs
   * are whole or split as in the plan, and those of states have the layouts of their inputs.
   *
   * @param states the states of the plan's graph
   * @throws PartitaException with {@link io.partita.ir.mesh.MeshCode#RESHARD} if a varying value
   *     would have to be whole
   */
  public static Module insert(LayoutPlan plan, List<Module.State> states) {
    return new SyncInsertion(plan).module(states);
  }

  private Module module(List<Module.State> states) {
    Map<String, String> stateInputs = new HashMap<>();
    states.forEach(state -> stateInputs.put(state.output(), state.input()));
    Map<String, Layout> inputs = new HashMap<>();
    for (Value input : plan.graph().inputs()) {
      Layout layout = plan.layout(input);
      inputs.put(input.name(), layout);
      Value copy = builder.input(input.name(), input.type());
      require(derivation.input(copy, layout));
      known(input).put(layout, copy);
    }
    for (Node node : plan.graph().nodes()) {
      copy(node);
    }
    for (Graph.Output output : plan.graph().outputs()) {
      Layout layout = plan.layout(output.value()).withPartial(Map.of());
      Layout kept = inputs.get(stateInputs.get(output.name()));
      builder.output(output.name(), read(output.value(), kept == null ? layout : kept));
    }
    return new Module(builder.finish(), states, Optional.of(new Placement(plan.mesh(), inputs)));
  }

  private void copy(Node node) {
    List<Layout> needed = operands(node);
    List<Value> operands = new ArrayList<>();
    for (int i = 0; i < needed.size(); i++) {
      operands.add(read(node.operand(i), needed.get(i)));
    }
    Node copy = add(node.op(), operands, node.origin());
    for (int i = 0; i < copy.results().size(); i++) {
      Value value = node.results().get(i);
      if (readers.containsKey(value) || outputs.contains(value)) {
        define(value, copy.results().get(i));
      }
    }
  }

  private void define(Value value, Value produced) {
    Layout held = plan.layout(value);
    boolean isHeld = derivation.layout(produced).equals(Optional.of(held));
    known(value).put(held, isHeld ? produced : relayout(produced, held));
  }

  /**
   * Returns the layout of the plan, if the splits of dimensions determine those of their factors.
   * An axis of one device may split any factor of a dimension, which is ambiguous; such operands
   * are whole.
   */
  private List<Layout> operands(Node node) {
    List<Layout> planned = plan.nodes().get(node).operands();
    if (LayoutDerivation.derive(plan.mesh(), node, planned).operands().equals(planned)) {
      return planned;
    }
    return planned.stream().map(SyncInsertion::whole).toList();
  }

  private static Layout whole(Layout layout) {
    return layout.with(Collections.nCopies(layout.rank(), Split.NONE)).withPartial(Map.of());
  }

  private Value read(Value value, Layout layout) {
    Value found = known(value).get(layout);
    if (found == null) {
      found = relayout(known(value).get(plan.layout(value)), layout);
      known(value).put(layout, found);
    }
    return found;
  }

  private Map<Layout, Value> known(Value value) {
    return copies.computeIfAbsent(value, key -> new HashMap<>());
  }

  private Value relayout(Value value, Layout to) {
    Layout from = derivation.layout(value).orElseThrow();
    return add(Communication.Relayout.of(from, to), List.of(value), origin(value)).result();
  }

  private static Origin origin(Value value) {
    return value.isInput() ? Origin.named(value.name()) : value.definition().origin();
  }

  private Node add(Op op, List<Value> operands, Origin origin) {
    Node node = builder.at(origin).addNode(op, operands);
    require(derivation.add(node));
    return node;
  }

  private static void require(List<Diagnostic> wrong) {
    if (!wrong.isEmpty()) {
      throw new PartitaException(wrong);
    }
  }
}
