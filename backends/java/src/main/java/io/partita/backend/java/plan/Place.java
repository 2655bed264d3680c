package io.partita.backend.java.plan;

/**
 * Where a value lives while the program runs.
 *
 * @param field the field that holds the array
 */
public record Place(Kind kind, String field) {
  /** Who owns the array. */
  public enum Kind {
    /** The caller. */
    INPUT,
    /** Allocated anew by each run and handed out. */
    OUTPUT,
    /** Kept from run to run. */
    STATE,
    /** Reused within a run. */
    BUFFER
  }
}
