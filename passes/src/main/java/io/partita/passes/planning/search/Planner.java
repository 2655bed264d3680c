package io.partita.passes.planning.search;

import io.partita.passes.mesh.shard.Strategy;

/** Makes the complete plan of a strategy. */
public interface Planner {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException if the strategy can't be used
   */
  CandidatePlan plan(Strategy strategy);

  /** Returns the plan with messages that overlap with computation, if that is better. */
  CandidatePlan overlapped(CandidatePlan plan);
}
