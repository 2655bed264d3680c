package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import java.util.Optional;

/**
 * The rewrites of a sharded module's sums.
 *
 * @param calibration the ranges of low-bit sums, where there are any
 */
public record SyncRewrites(SyncRules rules, Optional<SyncCalibration> calibration) {
  /** Exact sums. */
  public static final SyncRewrites NONE = new SyncRewrites(SyncRules.NONE, Optional.empty());

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#RULES} when the rules
   *     need a calibration and there is none
   */
  public SyncRewrites {
    rules.passes(calibration);
  }

  public boolean isEmpty() {
    return rules.isEmpty();
  }

  /**
   * Rewrites a module of the mesh dialect.
   *
   * @throws io.partita.ir.diagnostic.PartitaException when its sums can't be rewritten so
   */
  public Module run(Module sharded) {
    Module module = sharded;
    for (ModulePass pass : rules.passes(calibration)) {
      module = pass.run(module);
    }
    return module;
  }
}
