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
 * Blocks in consecutive stages, cut where fewest bytes pass, so that the stage with most bytes of
 * weights has as few as can be. Only what passes is held at a stage by demand; what a stage alone
 * needs follows it.
 */
final class PipelineStrategy {
  private final Graph graph;
  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final Pins pins;
  private final List<Node> attentions = new ArrayList<>();

  /** The index of each node in execution order. */
  private final Map<Node, Integer> order = new IdentityHashMap<>();

  /** What depends on an attention. */
  private final Set<Value> streams = Collections.newSetFromMap(new IdentityHashMap<>());

  /** The index of the last node that reads a value. */
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
          "take fewer stages, or compose them with tensor or sequence");
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

  /** The first attention's keys and values too: as states they'd else be on all stages. */
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

  /** The index of the node before which fewest bytes of streams are alive; the last such one. */
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

  /** The streams that are computed before a node and read by it or later. */
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

  /** Bytes of the weights that are first read between the cuts. */
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
