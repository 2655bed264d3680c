package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import java.util.Optional;

/**
 * The rewrites of the sums of a sharded module.
 *
 * @param calibration the ranges of low-bit sums, if any
 * @param ranking the ranking by which blocks are selected, if any
 */
public record SyncRewrites(
    SyncRules rules, Optional<SyncCalibration> calibration, Optional<BlockRanking> ranking) {
  /** No rewrites. */
  public static final SyncRewrites NONE = of(SyncRules.NONE);

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#RULES} if the rules need
   *     a calibration and there is none
   */
  public SyncRewrites {
    rules.passes(calibration, ranking);
  }

  /** Creates rewrites that need neither. */
  public static SyncRewrites of(SyncRules rules) {
    return new SyncRewrites(rules, Optional.empty(), Optional.empty());
  }

  public boolean isEmpty() {
    return rules.isEmpty();
  }

  /**
   * Rewrites a module of the mesh dialect.
   *
   * @throws io.partita.ir.diagnostic.PartitaException if its sums can't be rewritten this way
   */
  public Module run(Module sharded) {
    ranking.ifPresent(each -> each.require(sharded));
    Module module = sharded;
    for (ModulePass pass : rules.passes(calibration, ranking)) {
      module = pass.run(module);
    }
    return module;
  }
}
