package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;

/** Distributes a model: converts a module of the graph dialect to the mesh dialect. */
public final class ShardPass implements ModulePass {
  private final Strategy strategy;

  public ShardPass(Strategy strategy) {
    this.strategy = strategy;
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
    return Sharding.of(module, strategy).sharded();
  }
}
