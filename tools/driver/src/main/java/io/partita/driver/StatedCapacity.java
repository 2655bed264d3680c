package io.partita.driver;

/**
 * An option by which the user says how many positions a KV cache has.
 *
 * @param prefix the option but for its number: {@code --kv-capacity } or {@code --dim past=}
 * @param number what the user gives
 * @param positions what that means
 */
record StatedCapacity(String prefix, long number, long positions) {
  /** As the user writes it. */
  String option() {
    return prefix + number;
  }

  /** The option that asks for another number of positions. */
  String optionFor(long wanted) {
    return prefix + (number - positions + wanted);
  }
}
