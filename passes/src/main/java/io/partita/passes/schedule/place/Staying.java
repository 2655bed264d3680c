package io.partita.passes.schedule.place;

/** What stays in L2 from run to run where not all has room, besides what is small. */
public enum Staying {
  /** Weights of blocks, and states. */
  BLOCKS,
  /** States. */
  STATES,
  /** Weights and states pass through L2. */
  NOTHING
}
