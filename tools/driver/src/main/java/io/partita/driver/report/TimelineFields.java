package io.partita.driver.report;

import io.partita.passes.timing.Outcome;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.Resource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What resources did during a run, as JSON. Successive events of a resource with the same label,
 * such as the tiles of a kernel, are one span, which is busy for a part of its time. Spans are
 * joined further if there are more than {@link #MAX_SPANS}. Times are in nanoseconds.
 */
final class TimelineFields {
  static final int MAX_SPANS = 30_000;

  private static final double NANOSECONDS = 1e9;

  /** Events with the same label belong together if the gap is at most this many times as long. */
  private static final double NEAR = 8;

  private final List<Resource> resources = new ArrayList<>();
  private final Map<Resource, Integer> numbers = new LinkedHashMap<>();
  private final Map<String, Integer> labels = new LinkedHashMap<>();

  private TimelineFields() {}

  /** A resource that is busy for a part of an interval. */
  private static final class Span {
    private final int resource;
    private final double start;
    private double end;
    private double busy;
    private long bytes;
    private String label;
    private double longest;

    Span(int resource, String label, double start, double seconds, long bytes) {
      this.resource = resource;
      this.label = label;
      this.start = start;
      this.end = start + seconds;
      this.busy = seconds;
      this.bytes = bytes;
      this.longest = seconds;
    }

    void join(Span next) {
      end = Math.max(end, next.end);
      busy += next.busy;
      bytes += next.bytes;
      if (next.longest > longest) {
        longest = next.longest;
        label = next.label;
      }
    }
  }

  /**
   * @param isShown the resources whose events are listed; the critical path is complete
   */
  static Map<String, Object> of(RecordedTimeline timeline, Predicate<Resource> isShown) {
    TimelineFields fields = new TimelineFields();
    List<Span> spans = new ArrayList<>();
    for (RecordedTimeline.Event event : timeline.events()) {
      if (isShown.test(event.resource()) && event.seconds() > 0) {
        spans.add(
            new Span(
                fields.number(event.resource()),
                event.label(),
                event.start(),
                event.seconds(),
                event.bytes()));
      }
    }
    List<Span> path = new ArrayList<>();
    for (Outcome.Span span : timeline.criticalPath()) {
      path.add(new Span(fields.number(span.resource()), "", span.start(), span.seconds(), 0));
    }
    List<Span> shown = fields.joined(spans);
    List<Span> critical = fields.joined(path);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("resources", fields.resources.stream().map(TimelineFields::resource).toList());
    List<List<Long>> rows = shown.stream().map(fields::row).toList();
    json.put("labels", List.copyOf(fields.labels.keySet()));
    json.put("spans", rows);
    json.put(
        "criticalPath",
        critical.stream()
            .map(
                span ->
                    List.of((long) span.resource, nanos(span.start), nanos(span.end - span.start)))
            .toList());
    return json;
  }

  private int number(Resource resource) {
    return numbers.computeIfAbsent(
        resource,
        added -> {
          resources.add(added);
          return resources.size() - 1;
        });
  }

  private static Map<String, Object> resource(Resource resource) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", resource.name());
    json.put("kind", resource.kind().text());
    json.put("device", resource.device());
    return json;
  }

  private List<Long> row(Span span) {
    Integer label = labels.get(span.label);
    if (label == null) {
      label = labels.size();
      labels.put(span.label, label);
    }
    return List.of(
        (long) span.resource,
        nanos(span.start),
        nanos(span.end - span.start),
        nanos(span.busy),
        span.bytes,
        (long) label);
  }

  private static long nanos(double seconds) {
    return Math.round(seconds * NANOSECONDS);
  }

  /** Joins spans with the same label, then those with small gaps until there are few enough. */
  private List<Span> joined(List<Span> spans) {
    spans.sort(
        (a, b) ->
            a.resource != b.resource
                ? Integer.compare(a.resource, b.resource)
                : Double.compare(a.start, b.start));
    double all = spans.stream().mapToDouble(span -> span.end).max().orElse(0);
    List<Span> joined = joined(spans, 0);
    for (double apart = all / MAX_SPANS; joined.size() > MAX_SPANS; apart *= 2) {
      joined = joined(joined, apart);
    }
    return joined;
  }

  private static List<Span> joined(List<Span> spans, double apart) {
    List<Span> joined = new ArrayList<>();
    for (Span span : spans) {
      Span last = joined.isEmpty() ? null : joined.getLast();
      boolean isNext =
          last != null
              && last.resource == span.resource
              && (apart == 0
                  ? last.label.equals(span.label)
                      && span.start - last.end
                          <= (span.label.isEmpty()
                              ? 0
                              : NEAR * Math.max(last.longest, span.longest))
                  : span.end - last.start <= apart);
      if (isNext) {
        last.join(span);
      } else {
        joined.add(span);
      }
    }
    return joined;
  }
}
