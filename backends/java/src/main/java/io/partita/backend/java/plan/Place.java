package io.partita.backend.java.plan;

/**
 * The array of a value while the program runs.
 *
 * @param field the field that holds the array
 * @param local the name of the array in the methods of steps: the field, except for a shared
 *     buffer, where it is a local variable named after the value
 */
public record Place(Kind kind, String field, String local) {
  Place(Kind kind, String field) {
    this(kind, field, field);
  }

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
