package io.partita.passes.schedule.predict;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;

/**
 * The functions whose instructions a chip has cached, of which the least recently used one goes.
 */
final class InstructionCache {
  private final SequencedSet<String> warm = new LinkedHashSet<>();
  private final int capacity;

  /**
   * @param capacity the most functions whose instructions are cached
   */
  InstructionCache(int capacity) {
    this.capacity = capacity;
  }

  /**
   * Returns whether the instructions of all functions are cached, and caches them, which may evict
   * others.
   */
  boolean use(List<String> functions) {
    boolean isWarm = true;
    for (String function : functions) {
      isWarm &= warm.contains(function);
      warm.remove(function);
      warm.addLast(function);
      if (warm.size() > capacity) {
        warm.removeFirst();
      }
    }
    return isWarm;
  }
}
