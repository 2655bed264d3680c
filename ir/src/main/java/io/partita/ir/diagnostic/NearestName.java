package io.partita.ir.diagnostic;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/** Finds the name that a user may have meant. */
public final class NearestName {
  private NearestName() {}

  /**
   * Returns the name with the least edit distance, if it is at most a third of the letters of the
   * longer one; or else a name of several words that begins like that: {@code tinylama} means
   * {@code tinyllama-42m}.
   */
  public static Optional<String> of(String name, Collection<String> known) {
    Comparator<String> nearest =
        Comparator.comparingInt((String candidate) -> changes(name, candidate))
            .thenComparing(Comparator.naturalOrder());
    return known.stream()
        .filter(candidate -> isNear(name, candidate))
        .min(nearest)
        .or(() -> known.stream().filter(candidate -> beginsNear(name, candidate)).min(nearest));
  }

  private static boolean isNear(String name, String candidate) {
    return 3 * changes(name, candidate) <= Math.max(name.length(), candidate.length());
  }

  /** Whether the first words of a name with hyphens are near. */
  private static boolean beginsNear(String name, String candidate) {
    return IntStream.range(1, candidate.length())
        .filter(end -> candidate.charAt(end) == '-')
        .anyMatch(end -> isNear(name, candidate.substring(0, end)));
  }

  /** Returns a remedy for an unknown name, with a suggestion if there is one. */
  public static String remedy(String name, Collection<String> known) {
    return of(name, known)
        .map(near -> "correct the name: " + suggestion(near))
        .orElse("correct the name");
  }

  /** Returns the question whether a name was meant. */
  public static String suggestion(String near) {
    return "did you mean '" + near + "'?";
  }

  /**
   * Returns the number of insertions, deletions, replacements and transpositions, ignoring case.
   */
  private static int changes(String from, String to) {
    String a = from.toLowerCase(Locale.ROOT);
    String b = to.toLowerCase(Locale.ROOT);
    int[][] rows = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        rows[i][j] = i == 0 || j == 0 ? i + j : least(a, b, rows, i, j);
      }
    }
    return rows[a.length()][b.length()];
  }

  private static int least(String a, String b, int[][] rows, int i, int j) {
    int replaced = rows[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
    int least = Math.min(replaced, Math.min(rows[i - 1][j], rows[i][j - 1]) + 1);
    boolean exchanged =
        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return exchanged ? Math.min(least, rows[i - 2][j - 2] + 1) : least;
  }
}
