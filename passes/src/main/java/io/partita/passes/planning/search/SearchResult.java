package io.partita.passes.planning.search;

import java.util.ArrayList;
import java.util.List;

/**
 * The result of a search.
 *
 * @param best the best plan that fits or, if none does, the one with the least shortage
 * @param attempts the considered strategies, in the order of the search
 */
public record SearchResult(CandidatePlan best, List<Attempt> attempts) {
  public SearchResult {
    attempts = List.copyOf(attempts);
  }

  /**
   * Returns the Pareto front of latency, energy, number of devices and peak memory, by ascending
   * number of devices, then latency.
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
