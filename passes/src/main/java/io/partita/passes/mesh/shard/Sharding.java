package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.propagate.BoundDimensions;
import io.partita.ir.propagate.LayoutPlan;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.passes.graph.anatomy.BlockRoles;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.passes.mesh.sync.TokenGathers;

/**
 * The layouts of the values of a model for a strategy.
 *
 * @param module the given module, in an equivalent form that can be split better
 * @param anatomy the anatomy of the module
 */
public record Sharding(Module module, Strategy strategy, ModelAnatomy anatomy, LayoutPlan plan) {
  /**
   * Plans layouts.
   *
   * @param module a raised module
   * @param gathers what devices gather where tokens are split
   * @throws io.partita.ir.diagnostic.PartitaException with {@link ShardCode} if the strategy
   *     doesn't fit the model, with {@link io.partita.ir.mesh.MeshCode#UNBOUND} if a dimension
   *     isn't a number
   */
  public static Sharding of(Module module, Strategy strategy, TokenGathers gathers) {
    if (module.placement().isPresent()) {
      throw ShardCode.ALREADY_SHARDED.at(
          "module " + module.graph().name(),
          "a module that isn't distributed",
          module.placement().orElseThrow().mesh(),
          "shard once, with all strategies, as in shard(pipeline=2,tensor=4)");
    }
    BoundDimensions.require(module.graph());
    Graph graph = prepared(BlockRoles.record(module).graph(), strategy);
    ModelAnatomy anatomy = ModelAnatomy.of(graph);
    return new Sharding(
        module.with(graph),
        strategy,
        anatomy,
        new Planner(graph, anatomy, strategy, gathers).plan());
  }

  /** Like {@link #of(Module, Strategy, TokenGathers)}; devices gather the fewest bytes. */
  public static Sharding of(Module module, Strategy strategy) {
    return of(module, strategy, TokenGathers.FEWEST);
  }

  /** Returns the graph in an equivalent form that can be split better. */
  private static Graph prepared(Graph graph, Strategy strategy) {
    int weights = strategy.devices(Strategy.Kind.TENSOR);
    boolean splitsVocabulary =
        weights > 1
            && strategy.vocabulary() == Strategy.WeightPlacement.SPLIT
            && strategy.capacities().isEmpty();
    Graph selecting = splitsVocabulary ? SplitSelection.apply(graph, weights) : graph;
    boolean splitsTokens = strategy.devices(Strategy.Kind.SEQUENCE) > 1;
    return splitsTokens ? TokenLookup.apply(selecting) : selecting;
  }

  public Mesh mesh() {
    return plan.mesh();
  }

  /** Returns the distributed model, with a sync wherever devices communicate. */
  public Module sharded() {
    return SyncInsertion.insert(plan, module.states());
  }

  /** Returns the bytes of all trained weights, each counted once. */
  public long weightBytes() {
    return module.graph().nodes().stream()
        .filter(node -> node.constant().isPresent())
        .map(node -> node.result().type())
        .mapToLong(type -> type.bytes())
        .sum();
  }
}
