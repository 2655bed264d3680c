package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.anatomy.Block;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Splits weights as in section IV of the MCU paper: attention by heads and networks by inner
 * features, so that each ends with one sum over the devices.
 */
final class TensorStrategy {
  private final Graph graph;
  private final ModelAnatomy anatomy;
  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final Pins pins;
  private final long group;
  private final Set<Node> projections;

  /** Products whose summed dimension is split, so that their outputs can't be. */
  private final Set<Node> summed = Collections.newSetFromMap(new IdentityHashMap<>());

  /**
   * @param group the number of query heads per kv head of attention that isn't one operation
   */
  TensorStrategy(
      Graph graph,
      ModelAnatomy anatomy,
      StrategyMesh mesh,
      TrainedWeights weights,
      Pins pins,
      long group) {
    this.group = group;
    this.graph = graph;
    this.anatomy = anatomy;
    this.mesh = mesh;
    this.weights = weights;
    this.pins = pins;
    this.projections = projections(anatomy);
  }

  /** Splits the projections of queries, keys and values like their heads. */
  static Set<Node> projections(ModelAnatomy anatomy) {
    Set<Node> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Block block : anatomy.blocks()) {
      Block.AttentionPart attention = block.attention();
      Stream.of(attention.query(), attention.key(), attention.value())
          .flatMap(Optional::stream)
          .forEach(projection -> nodes.add(projection.node()));
    }
    return nodes;
  }

  void pin() {
    for (Node node : graph.nodes()) {
      switch (node.op()) {
        case Structured.Attention attention -> attention(node);
        case Structured.Ffn ffn -> network(node.operand(1), ffn, node);
        case Reduction.Softmax softmax -> scores(node);
        case IntegerNetwork.IntegerSoftmax softmax -> scores(node);
        case IntegerNetwork.PowerSoftmax softmax -> scores(node);
        case io.partita.ir.op.Op other -> weights.of(node).ifPresent(this::hidden);
      }
    }
    if (!mesh.inside().isEmpty()) {
      anatomy.blocks().forEach(this::inside);
    }
  }

  private void attention(Node node) {
    Value q = node.operand(0);
    long heads = q.type().dim(1).value();
    Split split = mesh.heads(heads, heads / Math.max(1, node.operand(1).type().dim(1).value()));
    pins.split(q, 1, split);
  }

  /** Also splits the features of each head; attention needs them whole, except for values. */
  private void inside(Block block) {
    Node node = block.attention().node();
    Value q = node.operand(0);
    long heads = q.type().dim(1).value();
    long kvHeads = node.operand(1).type().dim(1).value();
    Split split = mesh.heads(heads, heads / kvHeads);
    boolean single = !split.isNone() && kvHeads == heads;
    for (int part = 0; single && part < split.parts(); part++) {
      single = split.size(part) <= 1;
    }
    if (!single) {
      return;
    }
    pins.whole(q, List.of(mesh.inside()));
    pins.whole(node.operand(1), List.of(mesh.inside()));
    Value v = node.operand(2);
    pins.split(v, 1, split);
    pins.split(v, 3, Split.even(mesh.mesh(), v.type().dim(3).value(), mesh.inside()));
    for (Optional<io.partita.passes.graph.anatomy.Projection> projection :
        List.of(block.attention().query(), block.attention().key())) {
      projection
          .flatMap(found -> weights.of(found.node()))
          .filter(weight -> weight.outputs() == heads * q.type().dim(3).value())
          .ifPresent(weight -> weight.split(pins, mesh.features(split, q.type().dim(3).value())));
    }
  }

  private void network(Value firstWeight, Structured.Ffn ffn, Node node) {
    Value last = node.operands().get(node.operands().size() - (ffn.downBias() ? 2 : 1));
    long unit = Math.max(TrainedWeights.block(last), TrainedWeights.block(firstWeight));
    pins.split(firstWeight, 1, mesh.weights(firstWeight.type().dim(1).value(), unit));
  }

  /** Splits attention that isn't one operation, with scores {@code [(batch) heads, seq, keys]}. */
  private void scores(Node softmax) {
    Value scores = softmax.operand(0);
    int dim = scores.type().rank() - 3;
    if (dim >= 0 && softmaxes(anatomy).contains(softmax)) {
      long heads = scores.type().dim(dim).value();
      pins.split(scores, dim, mesh.heads(heads, heads % group == 0 ? group : 1));
    }
  }

  /** Finds the softmaxes of attentions that aren't one operation. */
  static Set<Node> softmaxes(ModelAnatomy anatomy) {
    Set<Node> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
    anatomy.integerAttentions().forEach(found -> nodes.add(found.node()));
    anatomy.misses().forEach(found -> nodes.add(found.node()));
    return nodes;
  }

  private void hidden(TrainedWeights.Weight second) {
    boolean isHead =
        anatomy
            .head()
            .filter(head -> head.vocabulary() && head.node() == second.node())
            .isPresent();
    if (isHead || projections.contains(second.node())) {
      return;
    }
    HiddenFeatures.before(second, weights)
        .filter(found -> found.first().stream().noneMatch(first -> summed.contains(first.node())))
        .ifPresent(
            found -> {
              long unit = second.unit();
              for (TrainedWeights.Weight first : found.first()) {
                unit = Math.max(unit, first.unit());
              }
              Split split = mesh.weights(second.inputs(), unit);
              found.first().forEach(first -> first.split(pins, split));
              summed.add(second.node());
            });
  }
}
