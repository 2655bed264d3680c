package io.partita.backend.emitted.probe;

import io.partita.ir.graph.Origin;

/**
 * The first difference of a chip from the reference.
 *
 * @param kind the kind of difference
 * @param step the step's number, as in the emitted code
 * @param steps the number of steps of a run
 * @param origin the origin of the step's node
 * @param part the part of the step: {@code element [0, 3]}, {@code message 2 of 6 (send 128 B to
 *     1)}; may be empty
 */
public record Finding(
    Kind kind,
    int chip,
    int step,
    int steps,
    Origin origin,
    String part,
    String expected,
    String found) {
  /** The kind of a difference. */
  public enum Kind {
    /** The chip computed, sent or got something that differs from the reference. */
    DIVERGES,
    /** The chip didn't get further. */
    STOPS
  }

  /** Whether it waits for a message, so that another chip is the likelier cause. */
  boolean isWaiting() {
    return kind == Kind.STOPS && !part.isEmpty();
  }

  /**
   * Formats the finding on one line, {@code DIVERGES chip 2, step 17 of 46, node q_proj
   * @block1.query: expected ...}.
   */
  public String line() {
    return kind
        + " chip "
        + chip
        + ", step "
        + step
        + " of "
        + steps
        + (origin.text().isEmpty() ? "" : ", node " + origin.text())
        + (part.isEmpty() ? "" : ", " + part)
        + ": expected "
        + expected
        + ", found "
        + found
        + (step == 0 ? "" : "; step " + (step - 1) + " agrees");
  }
}
