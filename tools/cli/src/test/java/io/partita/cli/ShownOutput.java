package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Compares what a command prints, standard error last, with what a page shows. Lines of standard
 * error may be left out at the end, and those of progress aren't compared. A line of three dots
 * stands for any lines, and dots at the end of a line for any text. Numbers may differ by a
 * tolerance, and those with the time that something took aren't compared.
 */
final class ShownOutput {
  private static final String DOTS = "...";

  /** The end of lines that show the progress of what takes some seconds on this machine. */
  private static final String PROGRESS = "…";

  private static final Pattern NUMBER = Pattern.compile("[0-9][0-9,]*(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  private static final Pattern TIMED = Pattern.compile("a second|^measured ");

  private ShownOutput() {}

  /**
   * @param tolerance of numbers, relative; infinite if they aren't compared
   */
  static void verify(String command, List<String> shown, Invocation run, double tolerance) {
    String printed = run.out() + run.err();
    List<String> lines =
        Stream.concat(run.out().lines(), run.err().lines().filter(line -> !line.endsWith(PROGRESS)))
            .map(String::stripTrailing)
            .toList();
    int next = 0;
    boolean isAnywhere = false;
    for (String line : shown) {
      if (line.equals(DOTS)) {
        isAnywhere = true;
        continue;
      }
      int found = next;
      while (isAnywhere && found < lines.size() && !isSame(line, lines.get(found), tolerance)) {
        found++;
      }
      assertThat(found < lines.size() && isSame(line, lines.get(found), tolerance))
          .as("%s%nshown:   %s%nprinted:%n%s", command, line, printed)
          .isTrue();
      next = found + 1;
      isAnywhere = false;
    }
    if (!shown.isEmpty() && !isAnywhere) {
      int printedLast = Math.toIntExact(run.out().lines().count());
      assertThat(lines.subList(next, Math.max(next, printedLast))).as(command).isEmpty();
    }
  }

  private static boolean isSame(String shown, String printed, double tolerance) {
    boolean isStart = shown.endsWith(DOTS);
    String expected =
        isStart ? shown.substring(0, shown.length() - DOTS.length()) : shown.stripTrailing();
    String pattern = text(expected);
    String found = text(printed);
    if (isStart ? !found.startsWith(pattern.stripTrailing()) : !found.equals(pattern)) {
      return false;
    }
    List<Double> wanted = numbers(expected);
    List<Double> given = numbers(printed);
    for (int i = 0; !TIMED.matcher(shown).find() && i < wanted.size(); i++) {
      if (Math.abs(wanted.get(i) - given.get(i)) > tolerance * Math.abs(wanted.get(i)) + 1e-3) {
        return false;
      }
    }
    return true;
  }

  private static String text(String line) {
    return NUMBER.matcher(line).replaceAll("#").replaceAll(" +", " ");
  }

  private static List<Double> numbers(String line) {
    return NUMBER
        .matcher(line)
        .results()
        .map(found -> Double.valueOf(found.group().replace(",", "")))
        .toList();
  }
}
