package io.partita.passes.timing;

import java.util.Arrays;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Predicate;

/** The times of the events of a timeline, and their cost. */
public final class Outcome {
  private final double seconds;
  private final double[] start;
  private final double[] end;
  private final List<Resource> resources;
  private final double[] busy;
  private final long[] bytes;
  private final List<Span> criticalPath;
  private final SequencedMap<String, Double> breakdown;

  /**
   * An event on the critical path.
   *
   * @param seconds from its start to the start of the next event on the path, or to the end
   */
  public record Span(int event, String label, Resource resource, double start, double seconds) {}

  Outcome(
      double seconds,
      double[] start,
      double[] end,
      List<Resource> resources,
      double[] busy,
      long[] bytes,
      List<Span> criticalPath,
      SequencedMap<String, Double> breakdown) {
    this.seconds = seconds;
    this.start = start;
    this.end = end;
    this.resources = resources;
    this.busy = busy;
    this.bytes = bytes;
    this.criticalPath = List.copyOf(criticalPath);
    this.breakdown = breakdown;
  }

  /** Returns the time from the beginning to the end of the critical path. */
  public double seconds() {
    return seconds;
  }

  /** Returns the time at which the last event ends. */
  public double end() {
    return Arrays.stream(end).max().orElse(0);
  }

  public double start(int event) {
    return start[event];
  }

  /** Returns the time at which dependent events may begin. */
  public double end(int event) {
    return end[event];
  }

  public List<Resource> resources() {
    return resources;
  }

  public double busySeconds(int resource) {
    return busy[resource];
  }

  public long bytes(int resource) {
    return bytes[resource];
  }

  /** Returns the bytes that all resources of a kind have moved. */
  public long bytes(Resource.Kind kind) {
    long sum = 0;
    for (int i = 0; i < bytes.length; i++) {
      sum += resources.get(i).kind().equals(kind) ? bytes[i] : 0;
    }
    return sum;
  }

  /** Returns the critical path: a delay of any of its events delays the end. */
  public List<Span> criticalPath() {
    return criticalPath;
  }

  /**
   * Returns the seconds of the critical path by kind of resource; their sum is {@link #seconds}.
   */
  public SequencedMap<String, Double> breakdown() {
    return java.util.Collections.unmodifiableSequencedMap(breakdown);
  }

  /**
   * Returns the energy in joules, by the formula of the MCU paper's section V-A: bytes over links
   * and between memories times the energy of a byte each, and for each chip the power of its cores
   * times the time that they compute.
   */
  public double joules() {
    return joules(resource -> true);
  }

  public double joules(Resource.Kind kind) {
    return joules(resource -> resource.kind().equals(kind));
  }

  private double joules(Predicate<Resource> counts) {
    double sum = 0;
    for (int i = 0; i < bytes.length; i++) {
      Resource each = resources.get(i);
      if (counts.test(each)) {
        sum += bytes[i] * each.joulesPerByte() + busy[i] * each.watts();
      }
    }
    return sum;
  }
}
