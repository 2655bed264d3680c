package io.partita.benchmarks.paper;

/**
 * A measured loop of a kernel whose work grows with the elements of its first operand.
 *
 * @param rows of that operand
 * @param columns of that operand
 * @param cycles of the whole loop, transfers between L2 and L1 included
 * @param computing the cycles in which the kernel ran
 */
public record ElementsRun(String name, long rows, long columns, long cycles, long computing) {
  /** The cycles that a core takes for an element, with operands in L1. */
  public double cyclesForAnElement() {
    return (double) (Siracusa.CORES * computing) / (rows * columns);
  }
}
