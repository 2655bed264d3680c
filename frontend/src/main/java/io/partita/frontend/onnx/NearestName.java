package io.partita.frontend.onnx;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** The name that a user may have meant. */
final class NearestName {
  private NearestName() {}

  /** The one that takes the fewest changes of letters, if they are at most a third of them. */
  static Optional<String> of(String name, Collection<String> known) {
    return known.stream()
        .filter(candidate -> 3 * changes(name, candidate) <= candidate.length())
        .min(
            Comparator.comparingInt((String candidate) -> changes(name, candidate))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Letters to insert, delete or replace, capitals or not. */
  private static int changes(String from, String to) {
    String a = from.toLowerCase(Locale.ROOT);
    String b = to.toLowerCase(Locale.ROOT);
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
