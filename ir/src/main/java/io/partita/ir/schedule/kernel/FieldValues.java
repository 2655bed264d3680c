package io.partita.ir.schedule.kernel;

import java.util.List;
import java.util.Optional;

/** The values of the fields of a kernel's struct in one tile. */
public interface FieldValues {
  /**
   * Returns the value of an integer field; 0 if the call omits it.
   *
   * @param field the name of the field; in a nested struct, {@code window.height}
   */
  long get(String field);

  /** Returns the integers of an array; empty if the call omits it. */
  List<Long> all(String field);

  /** Returns the pointer of a field; empty for null. */
  Optional<Argument.Value> pointer(String field);
}
