package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import io.partita.passes.mesh.sync.TokenGathers;

/** Distributes a model: converts a module of the graph dialect to the mesh dialect. */
public final class ShardPass implements ModulePass {
  private final Strategy strategy;
  private final TokenGathers gathers;

  public ShardPass(Strategy strategy) {
    this(strategy, TokenGathers.FEWEST);
  }

  /**
   * @param gathers what devices gather where tokens are split
   */
  public ShardPass(Strategy strategy, TokenGathers gathers) {
    this.strategy = strategy;
    this.gathers = gathers;
  }

  @Override
  public String name() {
    return "shard";
  }

  @Override
  public String purpose() {
    return "distribute the model over devices, as in shard(tensor=8) or shard(pipeline=2,tensor=4)";
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link ShardCode} if the strategy
   *     doesn't fit the model, with {@link io.partita.ir.mesh.MeshCode#UNBOUND} if a dimension
   *     isn't a number
   */
  @Override
  public Module run(Module module) {
    return Sharding.of(module, strategy, gathers).sharded();
  }
}
