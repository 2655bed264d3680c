package io.partita.passes.timing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Events on resources, and their times. An event waits for its dependencies and then for its
 * resource. A resource serves events in the order in which they become ready; ties are served in
 * the order in which they were added.
 *
 * <p>Times are in seconds from the beginning. Space and time are linear in events and dependencies,
 * except for sorting.
 */
public final class Timeline {
  private static final int NONE = -1;

  private final List<Resource> resources = new ArrayList<>();
  private final List<String> labels = new ArrayList<>();
  private int events;
  private int[] resource = new int[64];
  private double[] duration = new double[64];
  private double[] delay = new double[64];
  private long[] bytes = new long[64];

  /** The dependencies of event i are at {@code edges[firstEdge[i]]} and up to the next. */
  private int[] firstEdge = new int[65];

  private int[] edges = new int[128];

  /** Adds a resource and returns its number. */
  public int resource(Resource added) {
    resources.add(added);
    return resources.size() - 1;
  }

  /**
   * Adds an event that occupies a resource for {@code duration} seconds, and for those that depend
   * on it ends {@code delay} seconds later still.
   *
   * @param bytes that the resource moves
   * @param after events that were added before
   * @return the number of the event
   */
  public int event(int on, String label, double duration, double delay, long bytes, int... after) {
    if (on < 0 || on >= resources.size()) {
      throw new IllegalArgumentException("no resource " + on);
    }
    return add(on, label, duration, delay, bytes, after);
  }

  /** Adds an event of no duration at which all of {@code after} have ended. */
  public int join(int... after) {
    return add(NONE, "", 0, 0, 0, after);
  }

  /** Adds an event on no resource that ends some seconds after all of {@code after}. */
  public int delay(String label, double seconds, int... after) {
    return add(NONE, label, 0, seconds, 0, after);
  }

  private int add(int on, String label, double lasts, double later, long moved, int[] after) {
    if (!(lasts >= 0) || !(later >= 0) || Double.isInfinite(lasts + later) || moved < 0) {
      throw new IllegalArgumentException(label + " of " + lasts + " s, " + moved + " B");
    }
    int event = events++;
    if (event == resource.length) {
      int size = 2 * event;
      resource = Arrays.copyOf(resource, size);
      duration = Arrays.copyOf(duration, size);
      delay = Arrays.copyOf(delay, size);
      bytes = Arrays.copyOf(bytes, size);
      firstEdge = Arrays.copyOf(firstEdge, size + 1);
    }
    int first = firstEdge[event];
    if (first + after.length > edges.length) {
      edges = Arrays.copyOf(edges, Math.max(2 * edges.length, first + after.length));
    }
    for (int i = 0; i < after.length; i++) {
      if (after[i] < 0 || after[i] >= event) {
        throw new IllegalArgumentException("event " + event + " after event " + after[i]);
      }
      edges[first + i] = after[i];
    }
    firstEdge[event + 1] = first + after.length;
    resource[event] = on;
    duration[event] = lasts;
    delay[event] = later;
    bytes[event] = moved;
    labels.add(label);
    return event;
  }

  public int size() {
    return events;
  }

  private record Ready(double time, int event) implements Comparable<Ready> {
    @Override
    public int compareTo(Ready other) {
      int order = Double.compare(time, other.time);
      return order != 0 ? order : Integer.compare(event, other.event);
    }
  }

  /** Plays all events; the critical path leads to the one that ends last. */
  public Outcome play() {
    Playing playing = run();
    return playing.outcome(playing.latest());
  }

  /** Plays all events; the critical path leads to the end of {@code last}. */
  public Outcome play(int last) {
    return run().outcome(last);
  }

  /**
   * Returns what each resource did.
   *
   * @param outcome of this timeline
   */
  public RecordedTimeline recorded(Outcome outcome) {
    List<RecordedTimeline.Event> all = new ArrayList<>();
    for (int event = 0; event < events; event++) {
      if (resource[event] != NONE) {
        all.add(
            new RecordedTimeline.Event(
                labels.get(event),
                resources.get(resource[event]),
                outcome.start(event),
                duration[event],
                bytes[event]));
      }
    }
    return new RecordedTimeline(all, outcome.criticalPath());
  }

  private Playing run() {
    int[] open = new int[events];
    int[] firstReader = new int[events + 1];
    for (int edge = 0; edge < firstEdge[events]; edge++) {
      firstReader[edges[edge] + 1]++;
    }
    for (int event = 0; event < events; event++) {
      firstReader[event + 1] += firstReader[event];
    }
    int[] readers = new int[firstEdge[events]];
    int[] next = Arrays.copyOf(firstReader, events);
    PriorityQueue<Ready> queue = new PriorityQueue<>();
    for (int event = 0; event < events; event++) {
      open[event] = firstEdge[event + 1] - firstEdge[event];
      for (int edge = firstEdge[event]; edge < firstEdge[event + 1]; edge++) {
        readers[next[edges[edge]]++] = event;
      }
      if (open[event] == 0) {
        queue.add(new Ready(0, event));
      }
    }
    Playing playing = new Playing();
    while (!queue.isEmpty()) {
      Ready ready = queue.remove();
      int event = ready.event();
      playing.place(event, ready.time());
      for (int at = firstReader[event]; at < firstReader[event + 1]; at++) {
        int reader = readers[at];
        if (playing.end[event] > playing.readyAt[reader] || playing.cause[reader] == NONE) {
          playing.readyAt[reader] = playing.end[event];
          playing.cause[reader] = event;
        }
        if (--open[reader] == 0) {
          queue.add(new Ready(playing.readyAt[reader], reader));
        }
      }
    }
    return playing;
  }

  /** The state while events are played. */
  private final class Playing {
    private final double[] readyAt = new double[events];
    private final double[] start = new double[events];
    private final double[] end = new double[events];

    /**
     * The event whose end lets this one start: a dependency, or the previous one on its resource.
     */
    private final int[] cause = new int[events];

    private final double[] freeAt = new double[resources.size()];
    private final int[] last = new int[resources.size()];
    private final double[] busy = new double[resources.size()];
    private final long[] moved = new long[resources.size()];

    Playing() {
      Arrays.fill(cause, NONE);
      Arrays.fill(last, NONE);
    }

    void place(int event, double ready) {
      int on = resource[event];
      start[event] = ready;
      if (on != NONE) {
        if (freeAt[on] > ready) {
          start[event] = freeAt[on];
          cause[event] = last[on];
        }
        freeAt[on] = start[event] + duration[event];
        last[on] = event;
        busy[on] += duration[event];
        moved[on] = Math.addExact(moved[on], bytes[event]);
      }
      end[event] = start[event] + duration[event] + delay[event];
    }

    int latest() {
      int latest = NONE;
      for (int event = 0; event < events; event++) {
        if (latest == NONE || end[event] > end[latest]) {
          latest = event;
        }
      }
      return latest;
    }

    Outcome outcome(int latest) {
      List<Outcome.Span> path = new ArrayList<>();
      double until = latest == NONE ? 0 : end[latest];
      double seconds = until;
      SequencedMap<String, Double> breakdown = new TreeMap<>();
      for (int event = latest; event != NONE; event = cause[event]) {
        if (resource[event] != NONE) {
          double lasts = until - start[event];
          Resource on = resources.get(resource[event]);
          path.add(new Outcome.Span(event, labels.get(event), on, start[event], lasts));
          breakdown.merge(on.kind().text(), lasts, Double::sum);
        }
        until = start[event];
      }
      return new Outcome(
          seconds, start, end, List.copyOf(resources), busy, moved, path.reversed(), breakdown);
    }
  }
}
