package io.partita.benchmarks.paper;

/**
 * A measured loop of a product of matrices, {@code [rows, inner]} by {@code [inner, columns]}.
 *
 * @param cycles of the whole loop, transfers between L2 and L1 included
 * @param computing the cycles in which the kernel ran
 */
public record KernelRun(
    String name, long rows, long inner, long columns, long cycles, long computing) {
  /** The sums that a core computes together. */
  private static final int BLOCK = 16;

  public long macs() {
    return rows * inner * columns;
  }

  /** The rate with operands in L1. */
  public double rate() {
    return (double) macs() / computing;
  }

  /** The rate of the whole loop. */
  public double loopRate() {
    return (double) macs() / cycles;
  }

  /**
   * The cycles of a core for each block of sums beyond those that its multiplications need.
   *
   * @param limit the multiplications that all cores can issue in a cycle
   */
  double overhead(double limit) {
    double blocks = (double) (rows * columns) / BLOCK;
    return Siracusa.CORES * (computing - macs() / limit) / blocks;
  }
}
