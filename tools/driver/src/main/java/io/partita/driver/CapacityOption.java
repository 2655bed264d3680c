package io.partita.driver;

/**
 * An option that sets the capacity of a KV cache.
 *
 * @param prefix the option without its number: {@code --kv-capacity } or {@code --dim past=}
 * @param number the user's number
 * @param positions the capacity that it means
 */
record CapacityOption(String prefix, long number, long positions) {
  /** The option as the user writes it. */
  String option() {
    return prefix + number;
  }

  /** The option for another number of positions. */
  String optionFor(long wanted) {
    return prefix + (number - positions + wanted);
  }
}
