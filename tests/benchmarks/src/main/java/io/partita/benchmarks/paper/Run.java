package io.partita.benchmarks.paper;

/**
 * A measured run on chips, from its start until the last chip is done.
 *
 * @param chips the number of chips
 * @param predicted the predicted cycles
 * @param kernels the cycles of the kernels of the chip with most of them, one after the other, by
 *     the target's figures for each kernel alone
 * @param slowest the cycles of the chip that takes longest
 * @param moved the bytes that chips moved
 * @param energy the energy of all chips
 */
public record Run(
    int chips, long predicted, long kernels, Breakdown slowest, Moved moved, Energy energy) {

  /** Cycles by what the chip did. They add up to those of the run. */
  public record Breakdown(long compute, long l2, long l3, long link) {
    public long cycles() {
      return compute + l2 + l3 + link;
    }
  }

  /**
   * Bytes of all chips.
   *
   * @param l2 between L2 and L1
   * @param l3 between L3 and L2
   * @param l3Most the largest number of {@code l3} of a chip
   * @param loads the part of {@code l3} that is loaded ahead, such as weights; the rest are rows of
   *     tables
   * @param link over links
   */
  public record Moved(long l2, long l3, long l3Most, long loads, long link) {}

  /** Joules by the paper's formula. */
  public record Energy(double compute, double l2, double l3, double link) {
    public double total() {
      return compute + l2 + l3 + link;
    }
  }

  public long cycles() {
    return slowest.cycles();
  }

  /** The cycles that L3 needs for what the chip with most of it moves. */
  public double l3Roofline() {
    return moved.l3Most / Siracusa.L3_RATE;
  }

  /** The cycles from run to run: loads for the next run may take longer than the run. */
  public double interval() {
    return Math.max(cycles(), l3Roofline());
  }
}
