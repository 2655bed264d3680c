package io.partita.backend.siracusa.run;

import java.util.List;
import java.util.regex.Pattern;

/** What a compiler, a simulator or a chip said, cut down to the lines that tell what is wrong. */
final class LogExcerpt {
  private static final int MOST_LINES = 6;

  /** What programs themselves say. */
  private static final Pattern CHIP = Pattern.compile("^chip \\d+: |^trap 0x");

  /** Of compilers, sanitizers, MPI, Python and simulate.py. */
  private static final Pattern ERROR =
      Pattern.compile("(?i)error|exception|signal:|undefined reference|\\*\\*\\*|^simulate\\.py: ");

  /** Such as those with which {@code mpirun} frames what it says. */
  private static final Pattern EMPTY = Pattern.compile("[-=\\s]*");

  private LogExcerpt() {}

  /** The lines with semicolons between; empty if it said nothing. */
  static String of(String log) {
    List<String> lines =
        log.lines().map(String::strip).filter(line -> !EMPTY.matcher(line).matches()).toList();
    for (Pattern telling : List.of(CHIP, ERROR)) {
      List<String> found = lines.stream().filter(line -> telling.matcher(line).find()).toList();
      if (!found.isEmpty()) {
        return String.join("; ", found.subList(0, Math.min(found.size(), MOST_LINES)));
      }
    }
    return String.join("; ", lines.subList(Math.max(0, lines.size() - MOST_LINES), lines.size()));
  }

  /**
   * How a process ended.
   *
   * @param code as Java gives it: 128 and the number of a signal that ended it
   */
  static String ended(String program, int code) {
    return code > 128
        ? program + " was ended by signal " + (code - 128)
        : program + " ended with code " + code;
  }
}
