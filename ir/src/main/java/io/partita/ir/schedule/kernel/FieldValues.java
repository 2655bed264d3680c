package io.partita.ir.schedule.kernel;

import java.util.List;
import java.util.Optional;

/** What the fields of a kernel's struct are in one tile. */
public interface FieldValues {
  /**
   * The integer that a field holds; 0 where the call leaves it out.
   *
   * @param field of a struct in the struct: {@code window.height}
   */
  long get(String field);

  /** The integers of an array; none where the call leaves it out. */
  List<Long> all(String field);

  /** The pointer that a field holds; none for null. */
  Optional<Argument.Value> pointer(String field);
}
