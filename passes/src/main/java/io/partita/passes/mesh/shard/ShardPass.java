package io.partita.passes.mesh.shard;

import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;

/** Distributes a model: makes a module of the mesh dialect of one of the graph dialect. */
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
   * @throws io.partita.ir.diagnostic.PartitaException with {@link ShardCode} when the strategy
   *     doesn't fit the model, with {@link io.partita.ir.mesh.MeshCode#UNBOUND} when a dimension
   *     isn't a number
   */
  @Override
  public Module run(Module module) {
    return Sharding.of(module, strategy).sharded();
  }
}
