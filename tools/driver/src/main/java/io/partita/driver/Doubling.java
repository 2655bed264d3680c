package io.partita.driver;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.Memory;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;

/**
 * Doubles something until a program fits. What can't be tried, such as a number of devices that
 * can't be split so, ends the search.
 */
public final class Doubling {
  private static final int MAX_TRIALS = 8;
  private static final long KIBIBYTE = 1024;

  private Doubling() {}

  /** Returns the option for the first larger number of devices with which the program fits. */
  public static Optional<String> devices(int from, int most, IntPredicate fits) {
    try {
      for (int more = 2 * from; more <= most; more *= 2) {
        if (fits.test(more)) {
          return Optional.of("--devices " + more);
        }
      }
    } catch (PartitaException cannotBeSplit) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  /**
   * Returns the option for the first larger size of a memory with which the program fits.
   *
   * @param from its size in bytes
   * @param most the largest size in bytes
   */
  public static Optional<String> memory(Memory memory, long from, long most, LongPredicate fits) {
    long end = most / KIBIBYTE * KIBIBYTE;
    long size = from;
    try {
      for (int trial = 0; trial < MAX_TRIALS && size < end; trial++) {
        size = Math.min(Math.ceilDiv(2 * size, KIBIBYTE) * KIBIBYTE, end);
        if (fits.test(size)) {
          return Optional.of("--set " + memory.name() + "=" + text(size));
        }
      }
    } catch (PartitaException notASize) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  /** Returns a remedy that names options with which the program fits before another one. */
  public static String remedy(List<String> options, String other) {
    return String.join(", or ", options) + " (tried, it then fits); or " + other;
  }

  private static String text(long bytes) {
    long kibibytes = bytes / KIBIBYTE;
    return kibibytes % KIBIBYTE == 0 ? kibibytes / KIBIBYTE + "MiB" : kibibytes + "KiB";
  }
}
