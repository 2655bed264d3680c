package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.mesh.sync.TokenGathers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** Pins values by the strategies, one after the other, and propagates layouts. */
final class Planner {
  /** The largest number of rounds of splitting the remaining weights. */
  private static final int MAX_ROUNDS = 4;

  private final Graph graph;
  private final ModelAnatomy anatomy;
  private final Strategy strategy;
  private final StrategyMesh mesh;
  private final TrainedWeights weights;
  private final TokenGathers gathers;

  Planner(Graph graph, ModelAnatomy anatomy, Strategy strategy, TokenGathers gathers) {
    this.gathers = gathers;
    this.graph = graph;
    this.anatomy = anatomy;
    this.strategy = strategy;
    this.mesh = StrategyMesh.of(strategy, graph);
    this.weights = new TrainedWeights(graph);
  }

  LayoutPlan plan() {
    return groups().stream()
        .map(this::plan)
        .min(Comparator.comparingInt(plan -> plan.syncs().size()))
        .orElseThrow();
  }

  private LayoutPlan plan(long group) {
    Pins pins = new Pins();
    if (!mesh.stage().isEmpty() && mesh.mesh().size(mesh.stage()) > 1) {
      new PipelineStrategy(graph, anatomy, mesh, weights, pins).pin();
    }
    if (mesh.splitsTokens()) {
      splitTokens(pins);
    }
    return mesh.splitsWeights() ? splitWeights(group, pins) : propagate(pins);
  }

  private LayoutPlan propagate(Pins pins) {
    return LayoutPropagation.run(graph, mesh.mesh(), pins.demands());
  }

  /**
   * Returns candidates for the number of query heads per kv head of attention that isn't one
   * operation. Only divisors of the heads can be correct; the correct one needs the fewest syncs.
   */
  private List<Long> groups() {
    List<Long> groups = new ArrayList<>(List.of(1L));
    for (Node softmax : TensorStrategy.softmaxes(anatomy)) {
      int rank = softmax.operand(0).type().rank();
      long heads =
          rank < 3 || !softmax.operand(0).type().isStatic()
              ? 1
              : softmax.operand(0).type().dim(rank - 3).value();
      for (long group = 2; group <= heads / 2 && mesh.splitsWeights(); group++) {
        if (heads % group == 0 && !groups.contains(group)) {
          groups.add(group);
        }
      }
    }
    return groups;
  }

  private LayoutPlan splitWeights(long group, Pins pins) {
    new TensorStrategy(graph, anatomy, mesh, weights, pins, group).pin();
    if (strategy.vocabulary() == Strategy.WeightPlacement.SPLIT) {
      new VocabularyStrategy(graph, anatomy, mesh, weights, pins).pin();
    }
    LayoutPlan plan = propagate(pins);
    if (strategy.remaining() == Strategy.WeightPlacement.SPLIT) {
      // Keys and values of few heads are on several devices; gathering them would need a sync.
      Set<Node> kept = TensorStrategy.projections(anatomy);
      if (strategy.vocabulary() == Strategy.WeightPlacement.REPLICATED) {
        anatomy.head().ifPresent(head -> kept.add(head.node()));
      }
      RemainingStrategy remaining = new RemainingStrategy(graph, mesh, weights, pins, kept);
      for (int round = 0; round < MAX_ROUNDS && remaining.pin(plan); round++) {
        plan = propagate(pins);
      }
    }
    NormStrategy norms = new NormStrategy(graph, mesh, weights, pins);
    return switch (strategy.norm()) {
      case EVERYWHERE -> plan;
      case ROOT -> {
        norms.pinToRoot(plan);
        yield propagate(pins);
      }
      case TOKENS -> {
        norms.splitTokens(plan);
        yield propagate(pins);
      }
      case COLUMNS -> {
        norms.splitColumns(plan);
        yield propagate(pins);
      }
    };
  }

  private void splitTokens(Pins pins) {
    boolean splits = new SequenceStrategy(graph, anatomy, mesh, gathers, pins).pin();
    if (!splits && mesh.mesh().devices() == mesh.mesh().size(mesh.token())) {
      throw ShardCode.NOTHING_TO_SPLIT.at(
          "strategy " + strategy,
          "an attention with several tokens",
          anatomy.blocks().isEmpty() ? "no attention" : "one token",
          "use tensor to split weights, or compile the model for a longer sequence");
    }
  }
}
