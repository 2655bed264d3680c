package io.partita.passes.schedule.place;

import java.util.List;

/**
 * Where regions lie in the runs of each entry point: what stays from run to run is at the same
 * places in all.
 */
public record PlacedRuns(List<Places> runs) {
  public PlacedRuns {
    runs = List.copyOf(runs);
  }

  /** Part sizes of weights to try, as of each alone. */
  public List<Long> partSizes() {
    return runs.stream().map(Places::partSizes).flatMap(List::stream).distinct().toList();
  }

  /** As of {@link Places#isBetterThan}, with one run of each entry point. */
  public boolean isBetterThan(PlacedRuns other) {
    return sum(runs).isBetterThan(sum(other.runs));
  }

  private static Places sum(List<Places> runs) {
    return runs.stream().reduce(Places::and).orElseThrow();
  }
}
