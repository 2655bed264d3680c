package io.partita.ir.propagate;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Absence;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.eval.ReshardEvaluator;
import io.partita.ir.eval.Shards;
import io.partita.ir.factor.LocalForm;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The reference meaning of the mesh dialect: runs all devices in lock step. Each node runs on each
 * device that holds any of its results, with only the data of that device; only syncs access
 * several devices.
 */
public final class MeshEvaluator {
  private final Module module;
  private final LayoutInference layouts;
  private final Map<Value, Integer> remaining = new IdentityHashMap<>();

  /** The parts of each value by device. */
  private final Map<Value, SortedMap<Integer, Tensor>> values = new IdentityHashMap<>();

  private MeshEvaluator(Module module) {
    this.module = module;
    this.layouts = LayoutInference.of(module);
    for (Node node : module.graph().nodes()) {
      node.operands().forEach(operand -> remaining.merge(operand, 1, Integer::sum));
    }
    module.graph().outputs().forEach(output -> remaining.merge(output.value(), 1, Integer::sum));
  }

  /**
   * Returns the whole outputs of the graph.
   *
   * @param module a module with a placement
   * @param inputs the whole tensor of each input of the graph
   * @throws PartitaException as {@link Evaluator#run} and {@link LayoutInference#of}, or if
   *     replicas differ
   */
  public static List<Tensor> run(Module module, List<Tensor> inputs) {
    return new MeshEvaluator(module).run(inputs);
  }

  private List<Tensor> run(List<Tensor> inputs) {
    for (Value input : module.graph().inputs()) {
      keep(input, Shards.scatter(inputs.get(input.index()), layouts.layout(input)));
    }
    for (Node node : module.graph().nodes()) {
      run(node);
    }
    return module.graph().outputs().stream()
        .map(
            output -> {
              Value value = output.value();
              return Shards.assemble(values.get(value), value.type(), layouts.layout(value));
            })
        .toList();
  }

  private void run(Node node) {
    List<SortedMap<Integer, Tensor>> operands = node.operands().stream().map(values::get).toList();
    List<SortedMap<Integer, Tensor>> results =
        node.op() instanceof Communication.Relayout change
            ? List.of(relayout(node.operand(0), change, operands.getFirst()))
            : compute(node, operands);
    node.operands().forEach(this::use);
    for (int i = 0; i < results.size(); i++) {
      keep(node.results().get(i), results.get(i));
    }
  }

  private SortedMap<Integer, Tensor> relayout(
      Value value, Communication.Relayout change, SortedMap<Integer, Tensor> parts) {
    Layout from = layouts.layout(value);
    SortedMap<Integer, Tensor> skipped = new TreeMap<>();
    for (int device : from.holders()) {
      if (!parts.containsKey(device)) {
        skipped.put(device, Tensor.filled(from.localType(value.type(), device), 0));
      }
    }
    if (!skipped.isEmpty()) {
      requireSkippedTogether(value, change, from, skipped.keySet());
      SortedMap<Integer, Tensor> all = new TreeMap<>(parts);
      all.putAll(skipped);
      SortedMap<Integer, Tensor> results = relayout(value, change, all);
      results.keySet().removeAll(skipped.keySet());
      return results;
    }
    return relayout(change, from, value.type(), parts);
  }

  /**
   * Returns what each device holds after a change of layout.
   *
   * @param type the type of the whole value
   * @param parts the part of each device that holds one
   */
  public static SortedMap<Integer, Tensor> relayout(
      Communication.Relayout change,
      Layout from,
      TensorType type,
      SortedMap<Integer, Tensor> parts) {
    Codec codec = change instanceof Communication.Sync sync ? sync.codec() : Codec.EXACT;
    ElementType element = type.element();
    TensorType encoded = new TensorType(codec.wire(element), type.shape());
    return each(
        ReshardEvaluator.apply(
            new Resharding(from, change.to()),
            each(parts, part -> codec.encode(part, OpEvaluator.AT_ONCE)),
            encoded,
            0),
        part -> codec.decode(part, element, OpEvaluator.AT_ONCE));
  }

  /** Devices that exchange a value either all have it or all skip the exchange. */
  private static void requireSkippedTogether(
      Value value, Communication.Relayout change, Layout from, Set<Integer> skipped) {
    Set<String> axes = new Resharding(from, change.to()).kinds().keySet();
    Mesh mesh = from.mesh();
    for (int absent : skipped) {
      for (int device : from.holders()) {
        boolean isPeer =
            mesh.axes().stream()
                .map(MeshAxis::name)
                .filter(axis -> !axes.contains(axis))
                .allMatch(axis -> mesh.coordinate(device, axis) == mesh.coordinate(absent, axis));
        if (isPeer && !skipped.contains(device)) {
          throw new IllegalStateException(
              "device "
                  + absent
                  + " skips the exchange of "
                  + value
                  + " in which device "
                  + device
                  + " takes part");
        }
      }
    }
  }

  private static SortedMap<Integer, Tensor> each(
      SortedMap<Integer, Tensor> parts, UnaryOperator<Tensor> function) {
    SortedMap<Integer, Tensor> results = new TreeMap<>();
    parts.forEach((device, part) -> results.put(device, function.apply(part)));
    return results;
  }

  private List<SortedMap<Integer, Tensor>> compute(
      Node node, List<SortedMap<Integer, Tensor>> operands) {
    NodeLayouts derived = layouts.nodes().get(node);
    List<SortedMap<Integer, Tensor>> results = new ArrayList<>();
    node.results().forEach(result -> results.add(new TreeMap<>()));
    for (int device : derived.devices()) {
      List<Tensor> own = new ArrayList<>();
      operands.forEach(all -> own.add(all.get(device)));
      Absence.present(node.op(), own, place(node, derived, device), i -> type(node, i, device))
          .ifPresent(
              present -> {
                List<Tensor> parts = local(node, derived, device, present);
                for (int i = 0; i < parts.size(); i++) {
                  results.get(i).put(device, parts.get(i));
                }
              });
    }
    return results;
  }

  private static int place(Node node, NodeLayouts derived, int device) {
    return node.op() instanceof Communication.Variation variation
        ? derived.splits().mesh().coordinate(device, variation.axis())
        : 0;
  }

  private TensorType type(Node node, int operand, int device) {
    Value value = node.operand(operand);
    return layouts.layout(value).localType(value.type(), device);
  }

  /** Computes the results of a node on one device, from the parts that it holds. */
  public static List<Tensor> local(
      Node node, NodeLayouts layouts, int device, List<Tensor> operands) {
    GraphBuilder builder = new GraphBuilder("device" + device).at(node);
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

  private void keep(Value value, SortedMap<Integer, Tensor> parts) {
    if (remaining.containsKey(value)) {
      values.put(value, parts);
    }
  }

  private void use(Value value) {
    if (remaining.merge(value, -1, Integer::sum) == 0) {
      values.remove(value);
    }
  }
}
