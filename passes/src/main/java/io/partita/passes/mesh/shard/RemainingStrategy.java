package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.propagate.LayoutPlan;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Splits products that belong to no attention and no network, whose weights every device would
 * otherwise hold: by their outputs, which are gathered afterwards.
 */
final class RemainingStrategy {
  private static final int MAX_STEPS = 16;

  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final Pins pins;
  private final Set<Node> kept;
  private final Map<Value, List<Node>> readers;
  private final Set<Value> outputs = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * @param kept the products that are not split
   */
  RemainingStrategy(
      Graph graph, StrategyMesh mesh, TrainedWeights weights, Pins pins, Set<Node> kept) {
    this.mesh = mesh;
    this.kept = kept;
    this.weights = weights;
    this.pins = pins;
    this.readers = graph.readers();
    graph.outputs().forEach(output -> outputs.add(output.value()));
  }

  /** Whether anything was pinned beyond {@code plan}. */
  boolean pin(LayoutPlan plan) {
    boolean changed = false;
    for (Node node : plan.graph().nodes()) {
      TrainedWeights.Weight weight = weights.of(node).orElse(null);
      if (weight != null
          && !kept.contains(node)
          && !pins.has(weight.value())
          && isHeldByAll(plan, weight)) {
        weight.split(pins, split(weight));
        Value end = end(node.result());
        if (!isForOutputsOnly(end, MAX_STEPS)) {
          pins.whole(end, mesh.tensor());
        }
        changed = true;
      }
    }
    return changed;
  }

  private boolean isHeldByAll(LayoutPlan plan, TrainedWeights.Weight weight) {
    Layout read = plan.nodes().get(weight.node()).operands().get(weight.operand());
    return mesh.tensor().stream().allMatch(axis -> read.splitBy(axis) < 0);
  }

  private Split split(TrainedWeights.Weight weight) {
    long groups =
        weight.node().op() instanceof Contraction.Convolution convolution
            ? convolution.groups()
            : 1;
    long unit = groups > 1 ? weight.outputs() / groups : weight.unit();
    return mesh.weights(weight.outputs(), unit);
  }

  /** Returns the last and smallest of the values that are computed featurewise from the product. */
  private Value end(Value product) {
    Value smallest = product;
    Value at = product;
    for (int step = 0; step < MAX_STEPS && !outputs.contains(at); step++) {
      List<Node> next = readers.getOrDefault(at, List.of());
      if (next.size() != 1 || !isByFeature(next.getFirst(), at)) {
        break;
      }
      at = next.getFirst().results().getFirst();
      smallest = at.type().bytes() <= smallest.type().bytes() ? at : smallest;
    }
    return smallest;
  }

  private boolean isByFeature(Node node, Value from) {
    return isByFeature(node.op())
        && node.results().getFirst().type().shape().equals(from.type().shape())
        && node.operands().stream()
            .allMatch(operand -> operand == from || weights.isTrained(operand));
  }

  /** Whether each feature of the result depends on that of operands alone. */
  static boolean isByFeature(Op op) {
    return switch (op) {
      case Elementwise elementwise -> true;
      case Quantized quantized -> true;
      case IntegerNetwork network -> network.isElementwise();
      case Op other -> false;
    };
  }

  /** Outputs of the graph may be split. */
  private boolean isForOutputsOnly(Value value, int steps) {
    return steps > 0
        && readers.getOrDefault(value, List.of()).stream()
            .allMatch(
                reader ->
                    (reader.op() instanceof Elementwise
                            || reader.op() instanceof IntegerNetwork.Lookup
                            || reader.op() instanceof Movement.Transpose)
                        && isForOutputsOnly(reader.results().getFirst(), steps - 1));
  }
}
