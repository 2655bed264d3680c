package io.partita.passes.schedule.place;

import java.util.List;

/**
 * The addresses of regions in the runs of each entry point. Persistent regions have the same
 * address in all runs.
 */
public record PlacedRuns(List<Places> runs) {
  public PlacedRuns {
    runs = List.copyOf(runs);
  }

  /** Returns the part sizes of weights worth trying in any of the runs. */
  public List<Long> partSizes(boolean leastTraffic) {
    return runs.stream().flatMap(run -> run.partSizes(leastTraffic).stream()).distinct().toList();
  }

  /** Whether both memories are large enough for each entry point. */
  boolean fits() {
    return runs.stream().allMatch(Places::fits);
  }

  /** Whether all regions stay in the home memory. */
  public boolean keepsAll() {
    return runs.stream().allMatch(run -> run.streamed().isEmpty());
  }

  /** Compares as {@link Places#isBetterThan} does, for one run of each entry point. */
  public boolean isBetterThan(PlacedRuns other, boolean leastTraffic) {
    return sum(runs).isBetterThan(sum(other.runs), leastTraffic);
  }

  private static Places sum(List<Places> runs) {
    return runs.stream().reduce(Places::and).orElseThrow();
  }
}
