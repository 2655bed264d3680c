package io.partita.ir.propagate;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.factor.LocalForm;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Shards;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Runs a planned graph on all devices in lock step: each node on each device in turn that holds
 * something of its results, on what that device holds and nothing else, with layouts changed where
 * the plan says. The reference meaning of the mesh dialect.
 */
public final class MeshEvaluator {
  private final LayoutPlan plan;
  private final Map<Value, Integer> remaining = new IdentityHashMap<>();

  /** What the devices hold of each value, by layout: a value may be read in several. */
  private final Map<Value, Map<Layout, SortedMap<Integer, Tensor>>> values =
      new IdentityHashMap<>();

  private MeshEvaluator(LayoutPlan plan) {
    this.plan = plan;
    for (Node node : plan.graph().nodes()) {
      node.operands().forEach(operand -> remaining.merge(operand, 1, Integer::sum));
    }
    plan.graph().outputs().forEach(output -> remaining.merge(output.value(), 1, Integer::sum));
  }

  /**
   * The graph's outputs, assembled.
   *
   * @param inputs whole, one for each input of the graph
   * @throws PartitaException as {@link Evaluator#run}, or when devices that should hold the same
   *     don't
   */
  public static List<Tensor> run(LayoutPlan plan, List<Tensor> inputs) {
    return new MeshEvaluator(plan).run(inputs);
  }

  private List<Tensor> run(List<Tensor> inputs) {
    for (Value input : plan.graph().inputs()) {
      Layout layout = plan.layout(input);
      keep(input, layout, Shards.scatter(inputs.get(input.index()), layout));
    }
    for (Node node : plan.graph().nodes()) {
      run(node);
    }
    return plan.graph().outputs().stream()
        .map(
            output -> {
              Layout layout = plan.layout(output.value());
              SortedMap<Integer, Tensor> parts = values.get(output.value()).get(layout);
              return Shards.assemble(parts, output.value().type(), layout);
            })
        .toList();
  }

  private void run(Node node) {
    NodeLayouts layouts = plan.nodes().get(node);
    List<SortedMap<Integer, Tensor>> operands = new ArrayList<>();
    for (int i = 0; i < node.operands().size(); i++) {
      operands.add(read(node.operand(i), layouts.operands().get(i)));
    }
    List<SortedMap<Integer, Tensor>> results = new ArrayList<>();
    node.results().forEach(result -> results.add(new TreeMap<>()));
    for (int device : layouts.devices()) {
      List<Tensor> own = operands.stream().map(all -> all.get(device)).toList();
      List<Tensor> parts = local(node, layouts, device, own);
      for (int i = 0; i < parts.size(); i++) {
        results.get(i).put(device, parts.get(i));
      }
    }
    node.operands().forEach(this::use);
    for (int i = 0; i < results.size(); i++) {
      Value value = node.results().get(i);
      Layout held = plan.layout(value);
      Resharding change = new Resharding(layouts.results().get(i), held);
      keep(value, held, change.apply(results.get(i), value.type(), 0));
    }
  }

  private static List<Tensor> local(
      Node node, NodeLayouts layouts, int device, List<Tensor> operands) {
    GraphBuilder builder = new GraphBuilder("device" + device).at(node.name());
    List<Value> inputs = new ArrayList<>();
    for (Tensor operand : operands) {
      inputs.add(builder.input("operand" + inputs.size(), operand.type()));
    }
    LocalForm.add(
            builder,
            node.op(),
            layouts.splits(),
            node.operands().stream().map(Value::type).toList(),
            device,
            inputs)
        .forEach(result -> builder.output("result", result));
    return Evaluator.run(builder.finish(), operands);
  }

  private SortedMap<Integer, Tensor> read(Value value, Layout layout) {
    Layout held = plan.layout(value);
    Map<Layout, SortedMap<Integer, Tensor>> known = values.get(value);
    SortedMap<Integer, Tensor> parts = known.get(layout);
    if (parts == null) {
      parts = new Resharding(held, layout).apply(known.get(held), value.type(), 0);
      known.put(layout, parts);
    }
    return parts;
  }

  private void keep(Value value, Layout layout, SortedMap<Integer, Tensor> parts) {
    if (remaining.containsKey(value)) {
      values.computeIfAbsent(value, key -> new HashMap<>()).put(layout, parts);
    }
  }

  private void use(Value value) {
    if (remaining.merge(value, -1, Integer::sum) == 0) {
      values.remove(value);
    }
  }
}
