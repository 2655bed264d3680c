package io.partita.passes.schedule.place;

import io.partita.passes.schedule.view.Region;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** For each region, the first and the last task at which it must be in the home memory. */
final class Lifetimes {
  /** Counted from 0; -1 is before a run, the number of tasks after it. */
  record Span(int first, int last) {
    Span joined(Span other) {
      return new Span(Math.min(first, other.first), Math.max(last, other.last));
    }
  }

  private final SequencedMap<Region, Span> spans = new LinkedHashMap<>();

  /**
   * @param given what is there before a run
   * @param kept what is there after it
   */
  Lifetimes(List<Task> tasks, List<Region> given, List<Region> kept) {
    given.forEach(region -> touch(region, -1));
    for (int i = 0; i < tasks.size(); i++) {
      for (Region region : tasks.get(i).regions()) {
        touch(region, i);
      }
    }
    kept.forEach(region -> touch(region, tasks.size()));
  }

  private void touch(Region region, int task) {
    spans.merge(region, new Span(task, task), Span::joined);
  }

  /** In the order in which they're first touched. */
  SequencedMap<Region, Span> spans() {
    return spans;
  }
}
