package io.partita.ir.diagnostic;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the name that a user may have meant. */
public final class NearestName {
  private NearestName() {}

  /** Returns the name with the least edit distance, if it is at most a third of the letters. */
  public static Optional<String> of(String name, Collection<String> known) {
    return known.stream()
        .filter(candidate -> 3 * changes(name, candidate) <= candidate.length())
        .min(
            Comparator.comparingInt((String candidate) -> changes(name, candidate))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Returns a remedy for an unknown name, with a suggestion if there is one. */
  public static String remedy(String name, Collection<String> known) {
    return of(name, known)
        .map(near -> "correct the name: did you mean '" + near + "'?")
        .orElse("correct the name");
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
