package io.partita.benchmarks.paper;

/**
 * A measured run of one block.
 *
 * @param strategy what is split over chips, as for {@code --strategy}
 */
public record BlockRun(Workload workload, String strategy, Run run) {
  /**
   * The bytes of weights on all chips together: with tokens split, each chip, or each group of
   * chips, has all of them.
   */
  long weights() {
    return workload.weights() * copies();
  }

  /** The number of chips, or of groups of chips, that have all weights each. */
  int copies() {
    return Workload.copies(strategy, run.chips());
  }

  /** Whether all weights stay in L2, so that the run loads none. */
  public boolean onChip() {
    return run.moved().loads() == 0;
  }

  /**
   * The cycles while L3 also loads the weights of the next block, for which the chips needn't wait
   * within this one: the longer of both. What the run itself loads counts as these weights.
   */
  public double cyclesWithLoads() {
    double weights = (double) weights() / run.chips();
    return Math.max(run.cycles(), Math.max(weights, run.moved().l3Most()) / Siracusa.L3_RATE);
  }

  public double joulesWithLoads() {
    long loaded = Math.max(weights(), run.moved().l3());
    return joulesWithoutLoads() + loaded * Siracusa.L3_JOULES;
  }

  public double joulesWithoutLoads() {
    return run.energy().total() - run.energy().l3();
  }
}
