package io.partita.passes.timing;

import java.util.List;

/**
 * What each resource did during a run.
 *
 * @param events all events on resources, in the order in which they were added
 * @param criticalPath the events of which any delay delays the end
 */
public record RecordedTimeline(List<Event> events, List<Outcome.Span> criticalPath) {
  /**
   * An event on a resource.
   *
   * @param start in seconds from the beginning
   * @param seconds for which it occupies the resource
   * @param bytes that the resource moves
   */
  public record Event(String label, Resource resource, double start, double seconds, long bytes) {}

  public RecordedTimeline {
    events = List.copyOf(events);
    criticalPath = List.copyOf(criticalPath);
  }
}
