package io.partita.passes.schedule.place;

import io.partita.passes.schedule.view.Region;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * The live range of each region: the first and the last task at which it must be in the home
 * memory.
 */
final class Lifetimes {
  /** Tasks are counted from 0; -1 is before the run, and the number of tasks is after it. */
  record Span(int first, int last) {
    Span joined(Span other) {
      return new Span(Math.min(first, other.first), Math.max(last, other.last));
    }
  }

  private final SequencedMap<Region, Span> spans = new LinkedHashMap<>();

  /**
   * @param given regions that a caller writes before the run
   * @param kept regions that a caller reads after the run
   * @param changes of the tasks, whose positions live until these have begun to be written back
   */
  Lifetimes(List<Task> tasks, List<Region> given, List<Region> kept, StateChanges changes) {
    given.forEach(region -> touch(region, -1));
    for (int i = 0; i < tasks.size(); i++) {
      for (Region region : tasks.get(i).regions()) {
        touch(region, i);
      }
      if (tasks.get(i) instanceof Task.Loop loop && changes.areLines(i)) {
        for (Region position : loop.scalars()) {
          touch(position, i + 1);
        }
      }
    }
    kept.forEach(region -> touch(region, tasks.size()));
  }

  private void touch(Region region, int task) {
    spans.merge(region, new Span(task, task), Span::joined);
  }

  /** Live ranges in the order of first use. */
  SequencedMap<Region, Span> spans() {
    return spans;
  }
}
