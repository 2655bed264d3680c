package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Splits embeddings and the linear that scores tokens. The latter is split by tokens. A table of
 * embeddings is split by features, because gathering them takes half the bytes of a sum and is
 * exact; or by rows if the scores use the same table, which must not be stored twice.
 */
final class VocabularyStrategy {
  private final Graph graph;
  private final ModelAnatomy anatomy;
  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final Pins pins;
  private final Map<Value, List<Node>> readers;

  VocabularyStrategy(
      Graph graph, ModelAnatomy anatomy, StrategyMesh mesh, TrainedWeights weights, Pins pins) {
    this.graph = graph;
    this.anatomy = anatomy;
    this.mesh = mesh;
    this.weights = weights;
    this.pins = pins;
    this.readers = graph.readers();
  }

  void pin() {
    Set<Node> scoring = Collections.newSetFromMap(new IdentityHashMap<>());
    anatomy
        .head()
        .flatMap(head -> weights.of(head.node()))
        .ifPresent(
            weight -> {
              weight.split(pins, mesh.weights(weight.outputs(), weight.unit()));
              scoring.addAll(TrainedWeights.constants(weight.value()));
            });
    List<Node> lookups =
        anatomy.embeddings().stream()
            .map(ModelAnatomy.EmbeddingTable::node)
            .filter(this::isLookup)
            .toList();
    boolean tied =
        lookups.stream()
            .anyMatch(
                node ->
                    TrainedWeights.constants(node.operand(0)).stream().anyMatch(scoring::contains));
    for (Node node : lookups) {
      Value table = node.operand(0);
      int dim = tied ? 0 : 1;
      pins.split(table, dim, mesh.weights(table.type().dim(dim).value(), 1));
    }
    Set<Value> sums = Collections.newSetFromMap(new IdentityHashMap<>());
    lookups.forEach(node -> sums.add(node.result()));
    graph.nodes().stream()
        .filter(node -> isSum(node, sums))
        .forEach(node -> sums.add(node.result()));
    sums.stream().filter(sum -> isRead(sum, sums)).forEach(sum -> pins.whole(sum, mesh.tensor()));
  }

  /** Finds lookups of rows of a trained matrix. */
  private boolean isLookup(Node node) {
    boolean isGather =
        node.op() instanceof Structured.Embedding
            || node.op() instanceof Movement.Gather(int axis) && axis == 0;
    return isGather
        && node.operand(0).type().rank() == 2
        && weights.isTrained(node.operand(0))
        && !weights.isTrained(node.operand(1));
  }

  /** Follows featurewise operations on embeddings. */
  private boolean isSum(Node node, Set<Value> sums) {
    boolean passes =
        switch (node.op()) {
          case Elementwise elementwise -> true;
          case Quantized quantized -> true;
          case Op other -> false;
        };
    return passes
        && node.operands().stream().anyMatch(sums::contains)
        && node.operands().stream()
            .allMatch(operand -> sums.contains(operand) || weights.isTrained(operand));
  }

  private boolean isRead(Value sum, Set<Value> sums) {
    boolean isOutput = graph.outputs().stream().anyMatch(output -> output.value() == sum);
    return isOutput
        || readers.getOrDefault(sum, List.of()).stream()
            .anyMatch(reader -> reader.results().stream().noneMatch(sums::contains));
  }
}
