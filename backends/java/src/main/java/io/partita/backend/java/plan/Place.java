package io.partita.backend.java.plan;

/**
 * The array of a value while the program runs.
 *
 * @param field the field that holds the array
 */
public record Place(Kind kind, String field) {
  /** Who owns the array. */
  public enum Kind {
    /** The caller. */
    INPUT,
    /** Allocated by each run and returned. */
    OUTPUT,
    /** Kept between runs. */
    STATE,
    /** Reused within a run. */
    BUFFER
  }
}
