package io.partita.backend.siracusa.probe;

/**
 * The first place at which a chip isn't as it should be.
 *
 * @param kind what is wrong
 * @param block number of the transformer block; -1 outside of all
 * @param step its number, as in the emitted code
 * @param steps how many a run has
 * @param node as in the model
 * @param part of the step: {@code element [0, 3]}, {@code message 2 of 6 (send 128 B to 1)}; may be
 *     empty
 */
public record Finding(
    Kind kind,
    int chip,
    int block,
    int step,
    int steps,
    String node,
    String part,
    String expected,
    String found) {
  /** What is wrong. */
  public enum Kind {
    /** The chip has computed, sent or been given something else than the reference says. */
    DIVERGES,
    /** It didn't come further. */
    STOPS
  }

  /** Whether it's for a message, so that another chip is the likelier cause. */
  boolean isWaiting() {
    return kind == Kind.STOPS && !part.isEmpty();
  }

  /** In one line, {@code DIVERGES chip 2, block 1, step 17 of 46, node ...: expected ...}. */
  public String line() {
    return kind
        + " chip "
        + chip
        + (block < 0 ? "" : ", block " + block)
        + ", step "
        + step
        + " of "
        + steps
        + (node.isEmpty() ? "" : ", node " + node)
        + (part.isEmpty() ? "" : ", " + part)
        + ": expected "
        + expected
        + ", found "
        + found
        + (step == 0 ? "" : "; step " + (step - 1) + " agrees");
  }
}
