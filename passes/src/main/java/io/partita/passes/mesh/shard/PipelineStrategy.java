package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Divides the blocks into consecutive stages, with cuts where the fewest bytes pass, so that the
 * largest weight bytes of a stage are minimal. Only values that pass between stages are pinned;
 * values that a stage alone uses follow by propagation.
 */
final class PipelineStrategy {
  private final Graph graph;
  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final Pins pins;
  private final List<Node> attentions = new ArrayList<>();

  /** The index of each node in execution order. */
  private final Map<Node, Integer> order = new IdentityHashMap<>();

  /** The values that depend on an attention. */
  private final Set<Value> streams = Collections.newSetFromMap(new IdentityHashMap<>());

  /** The index of the last user of a value. */
  private final Map<Value, Integer> lastRead = new IdentityHashMap<>();

  PipelineStrategy(
      Graph graph, ModelAnatomy anatomy, StrategyMesh mesh, TrainedWeights weights, Pins pins) {
    this.graph = graph;
    this.mesh = mesh;
    this.weights = weights;
    this.pins = pins;
    Set<Node> softmaxes = TensorStrategy.softmaxes(anatomy);
    for (Node node : graph.nodes()) {
      order.put(node, order.size());
      boolean isAttention = node.op() instanceof Structured.Attention || softmaxes.contains(node);
      if (isAttention) {
        attentions.add(node);
      }
      if (isAttention || node.operands().stream().anyMatch(streams::contains)) {
        streams.addAll(node.results());
      }
      node.operands().forEach(operand -> lastRead.put(operand, order.get(node)));
    }
  }

  void pin() {
    int stages = mesh.mesh().size(mesh.stage());
    if (attentions.size() < stages) {
      throw ShardCode.NOTHING_TO_SPLIT.at(
          "strategy pipeline=" + stages,
          stages + " blocks or more",
          attentions.size() + (attentions.size() == 1 ? " block" : " blocks"),
          "use fewer stages, or combine them with tensor or sequence");
    }
    List<Integer> cuts = new ArrayList<>();
    for (int block = 1; block < attentions.size(); block++) {
      cuts.add(cut(order.get(attentions.get(block - 1)) + 1, order.get(attentions.get(block))));
    }
    placeFirst();
    List<Integer> first = Balance.consecutive(weights(cuts), stages);
    for (int stage = 1; stage < stages; stage++) {
      for (Value value : passing(cuts.get(first.get(stage) - 1))) {
        pins.place(value, axes(), stage);
      }
    }
  }

  /**
   * Includes keys and values of the first attention, which as states would otherwise be on all
   * stages.
   */
  private void placeFirst() {
    Node first = attentions.getFirst();
    int operands = first.op() instanceof Structured.Attention ? 3 : 1;
    for (Value operand : first.operands().subList(0, operands)) {
      pins.place(operand, axes(), 0);
    }
  }

  private List<String> axes() {
    return List.of(mesh.stage());
  }

  /** Returns the index of the last node before which the fewest bytes of streams are live. */
  private int cut(int from, int to) {
    int best = from;
    long fewest = Long.MAX_VALUE;
    for (int index = from; index <= to; index++) {
      long bytes = passing(index).stream().mapToLong(value -> value.type().bytes()).sum();
      if (bytes <= fewest) {
        fewest = bytes;
        best = index;
      }
    }
    return best;
  }

  /** Returns the streams that are computed before a node and used by it or later. */
  private List<Value> passing(int index) {
    List<Value> passing = new ArrayList<>();
    for (Node node : graph.nodes().subList(0, index)) {
      for (Value value : node.results()) {
        if (streams.contains(value) && lastRead.getOrDefault(value, -1) >= index) {
          passing.add(value);
        }
      }
    }
    return passing;
  }

  /** Returns the bytes of the weights whose first use is between the cuts. */
  private List<Long> weights(List<Integer> cuts) {
    long[] bytes = new long[cuts.size() + 1];
    Set<Node> counted = new HashSet<>();
    for (Node node : graph.nodes()) {
      if (node.operands().isEmpty() || node.results().stream().allMatch(weights::isTrained)) {
        continue;
      }
      int position = Collections.binarySearch(cuts, order.get(node));
      int segment = position >= 0 ? position + 1 : -position - 1;
      for (Value operand : node.operands()) {
        for (Node constant : TrainedWeights.constants(operand, weights)) {
          bytes[segment] += counted.add(constant) ? constant.result().type().bytes() : 0;
        }
      }
    }
    return Arrays.stream(bytes).boxed().toList();
  }
}
