package io.partita.passes.planning.search;

import java.util.ArrayList;
import java.util.List;

/**
 * What a search found.
 *
 * @param best the best plan that fits; where none does, the one that lacks least
 * @param attempts all strategies that were considered, in the order of the search
 */
public record SearchResult(CandidatePlan best, List<Attempt> attempts) {
  public SearchResult {
    attempts = List.copyOf(attempts);
  }

  /**
   * The plans of which no other is better in latency, energy, devices or peak memory without being
   * worse in another of them; fewest devices first, then the fastest.
   */
  public List<Attempt.Fits> front() {
    List<Attempt.Fits> fitting = fitting();
    List<Attempt.Fits> front = new ArrayList<>();
    for (Attempt.Fits each : fitting) {
      if (fitting.stream().noneMatch(other -> other.dominates(each))) {
        front.add(each);
      }
    }
    front.sort(
        java.util.Comparator.comparingInt(Attempt.Fits::devices)
            .thenComparingDouble(Attempt.Fits::seconds));
    return front;
  }

  private List<Attempt.Fits> fitting() {
    return attempts.stream()
        .filter(Attempt.Fits.class::isInstance)
        .map(Attempt.Fits.class::cast)
        .toList();
  }
}
