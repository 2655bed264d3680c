package io.partita.passes.planning.search;

import io.partita.passes.mesh.shard.Strategy;

/** Makes a plan of one strategy, to the end. */
public interface Planner {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException when the strategy can't be used
   */
  CandidatePlan plan(Strategy strategy);

  /** The same plan with messages on their way while devices compute, where that takes less. */
  CandidatePlan overlapped(CandidatePlan plan);
}
