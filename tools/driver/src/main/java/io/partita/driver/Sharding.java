package io.partita.driver;

import io.partita.ir.graph.Module;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncRewrites;

/**
 * How a model is distributed over several devices, and how they exchange the sums of its blocks.
 */
public record Sharding(Strategy strategy, SyncRewrites syncs) {
  /** With exact sums. */
  public static Sharding of(Strategy strategy) {
    return new Sharding(strategy, SyncRewrites.NONE);
  }

  /**
   * Distributes a module.
   *
   * @param module of the graph dialect
   * @return the same in the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException when it can't be distributed, or its sums
   *     can't be rewritten so
   */
  public Module run(Module module) {
    return syncs.run(new ShardPass(strategy).run(module));
  }
}
