package io.partita.driver;

import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncRules;
import java.util.Optional;

/**
 * How a model is distributed over several devices, and how they exchange the sums of its blocks.
 *
 * @param calibration the ranges of low-bit sums, where there are any
 */
public record Sharding(Strategy strategy, SyncRules syncs, Optional<SyncCalibration> calibration) {
  /** With exact sums. */
  public static Sharding of(Strategy strategy) {
    return new Sharding(strategy, SyncRules.NONE, Optional.empty());
  }

  /**
   * Distributes a module.
   *
   * @param module of the graph dialect
   * @return the same in the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException when it can't be distributed or its syncs not
   *     be rewritten so
   */
  public Module run(Module module) {
    Module sharded = new ShardPass(strategy).run(module);
    for (ModulePass pass : syncs.passes(calibration)) {
      sharded = pass.run(sharded);
    }
    return sharded;
  }
}
