package io.partita.backend.emitted.run;

import java.util.List;
import java.util.regex.Pattern;

/** The output of a compiler, a simulator or a chip, reduced to the lines that state the problem. */
final class LogExcerpt {
  private static final int MAX_LINES = 6;

  /** Messages of emitted programs. */
  private static final Pattern CHIP = Pattern.compile("^chip \\d+: |^trap 0x");

  /** Messages of compilers, sanitizers, MPI, Python and simulate.py. */
  private static final Pattern ERROR =
      Pattern.compile(
          "(?i)error|exception|signal:|undefined reference|overflowed by|\\*\\*\\*|^simulate\\.py: ");

  /** Separator lines, such as those of {@code mpirun}. */
  private static final Pattern EMPTY = Pattern.compile("[-=\\s]*");

  private LogExcerpt() {}

  /** Returns the lines, separated by semicolons; empty without output. */
  static String of(String log) {
    List<String> lines =
        log.lines().map(String::strip).filter(line -> !EMPTY.matcher(line).matches()).toList();
    for (Pattern telling : List.of(CHIP, ERROR)) {
      List<String> found = lines.stream().filter(line -> telling.matcher(line).find()).toList();
      if (!found.isEmpty()) {
        return String.join("; ", found.subList(0, Math.min(found.size(), MAX_LINES)));
      }
    }
    return String.join("; ", lines.subList(Math.max(0, lines.size() - MAX_LINES), lines.size()));
  }

  /**
   * Describes how a process ended.
   *
   * @param code the exit code in Java: 128 plus the number of a signal that ended the process
   */
  static String ended(String program, int code) {
    return code > 128
        ? program + " was ended by signal " + (code - 128)
        : program + " ended with code " + code;
  }
}
