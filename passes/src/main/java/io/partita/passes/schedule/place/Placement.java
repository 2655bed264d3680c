package io.partita.passes.schedule.place;

import io.partita.ir.schedule.ChipSchedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.place.Lifetimes.Span;
import io.partita.passes.schedule.place.OffsetPacking.Interval;
import io.partita.passes.schedule.place.OffsetPacking.Packed;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Puts the regions of a chip in its memories: in L2 constants that stay from offset 0 on, then
 * states, then what lives for some steps, then room for what comes from L3: weights, and states,
 * which go back there when they have changed.
 */
public final class Placement {
  /** Of everything in L2 and L3: an i64 is read from L2 by the control core. */
  private static final long ALIGNMENT = 8;

  /**
   * Smaller constants stay in L2, such as those of norms: they would fill the queue of transfers.
   */
  private static final long SMALLEST_STREAMED = 8192;

  private final List<Task> tasks;
  private final SequencedMap<Region, Span> spans;
  private final Map<Region, Integer> changed = new IdentityHashMap<>();
  private final long l2Bytes;
  private final long l3Bytes;
  private final boolean prefetch;
  private final TransferTimes times;
  private final List<Region> large;
  private final List<Region> moving;
  private final Packed packed;
  private final long room;

  private Placement(
      List<Task> tasks,
      SequencedMap<Region, Span> spans,
      long l2Bytes,
      long l3Bytes,
      boolean prefetch,
      TransferTimes times) {
    this.tasks = tasks;
    this.spans = spans;
    this.l2Bytes = l2Bytes;
    this.l3Bytes = l3Bytes;
    this.prefetch = prefetch;
    this.times = times;
    for (int i = 0; i < tasks.size(); i++) {
      for (Region region : tasks.get(i).written()) {
        changed.put(region, i + 1);
      }
    }
    moving = regions(region -> region.kind() == Region.Kind.ACTIVATION);
    packed = OffsetPacking.pack(intervals(moving));
    large =
        regions(
            region ->
                region.kind() != Region.Kind.ACTIVATION && region.bytes() >= SMALLEST_STREAMED);
    long small =
        regions(region -> region.kind() != Region.Kind.ACTIVATION && !large.contains(region))
            .stream()
            .mapToLong(region -> aligned(region.bytes()))
            .sum();
    room = l2Bytes - small - packed.bytes();
  }

  /**
   * The places with which a run takes least time, of those that are tried.
   *
   * @param given what a caller writes before a run
   * @param kept what it reads after a run
   * @param outside constants that belong to no block
   * @param l2Bytes what L2 has
   * @param l3Bytes what L3 has; 0 if there's none
   * @param prefetch whether weights are fetched before they're needed
   * @return where the use of a memory may be larger than it is
   */
  public static Places of(
      List<Task> tasks,
      List<Region> given,
      List<Region> kept,
      Set<Region> outside,
      long l2Bytes,
      long l3Bytes,
      boolean prefetch,
      TransferTimes times) {
    SequencedMap<Region, Span> spans = new Lifetimes(tasks, given, kept).spans();
    Placement placement = new Placement(tasks, spans, l2Bytes, l3Bytes, prefetch, times);
    Places resident = placement.place(Set.of());
    if (l3Bytes == 0 || resident.l2Use().used() <= l2Bytes) {
      return resident;
    }
    Places best = null;
    for (Set<Region> streamed : Residency.choices(placement.large, outside, placement.room)) {
      Places places = placement.place(streamed);
      best = best == null || places.isBetterThan(best) ? places : best;
    }
    return best;
  }

  /** In the order in which they're first touched. */
  private List<Region> regions(Predicate<Region> which) {
    return spans.keySet().stream().filter(which).toList();
  }

  private List<Interval> intervals(List<Region> regions) {
    return regions.stream()
        .map(
            region ->
                new Interval(
                    aligned(region.bytes()), spans.get(region).first(), spans.get(region).last()))
        .toList();
  }

  /** Bytes that a region takes. */
  public static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  private Places place(Set<Region> isStreamed) {
    SequencedMap<Region, Long> l2 = new LinkedHashMap<>();
    long end = 0;
    for (Region.Kind kind : List.of(Region.Kind.CONSTANT, Region.Kind.STATE)) {
      for (Region region : regions(each -> each.kind() == kind && !isStreamed.contains(each))) {
        l2.put(region, end);
        end += aligned(region.bytes());
      }
    }
    for (int i = 0; i < moving.size(); i++) {
      l2.put(moving.get(i), end + packed.offsets().get(i));
    }
    List<Region> streamed = regions(isStreamed::contains);
    List<Interval> intervals = new ArrayList<>(intervals(moving));
    intervals.addAll(intervals(streamed));
    long needed = end + OffsetPacking.needed(intervals);
    SequencedMap<Region, Long> l3 = tables();
    for (Region.Kind kind : List.of(Region.Kind.CONSTANT, Region.Kind.STATE)) {
      streamed.stream()
          .filter(region -> region.kind() == kind && !l3.containsKey(region))
          .forEach(region -> l3.put(region, end(l3)));
    }
    return pass(l2, l3, streamed, end + packed.bytes(), needed);
  }

  private static long end(SequencedMap<Region, Long> l3) {
    return l3.isEmpty() ? 0 : l3.lastEntry().getValue() + aligned(l3.lastEntry().getKey().bytes());
  }

  /**
   * @param start where the room for what passes begins
   */
  private Places pass(
      SequencedMap<Region, Long> l2,
      SequencedMap<Region, Long> l3,
      List<Region> streamed,
      long start,
      long needed) {
    Passing passing =
        new Passing(
            streamed.stream()
                .map(region -> Passing.One.of(region, spans.get(region), changed.get(region)))
                .toList(),
            l2Bytes - start);
    for (int i = 0; i < streamed.size() && passing.fits(); i++) {
      l2.put(streamed.get(i), start + passing.offset(i));
    }
    TransferQueue first = passing.queue(start, l3, new TransferQueue(prefetch, times, List.of()));
    steps(first);
    TransferQueue queue =
        passing.queue(start, l3, new TransferQueue(prefetch, times, first.left()));
    List<List<ScheduleStep>> before = steps(queue);
    long used = start + passing.bytes();
    boolean fits = used <= l2Bytes && end(l3) <= l3Bytes;
    return new Places(
        l2,
        l3,
        streamed,
        queue.start(),
        before,
        new MemoryUse(used, needed, l2Bytes),
        new MemoryUse(end(l3), end(l3), l3Bytes),
        fits,
        room,
        queue.cycles(),
        fits ? List.of() : peak(Set.copyOf(streamed)));
  }

  private List<List<ScheduleStep>> steps(TransferQueue queue) {
    return IntStream.rangeClosed(0, tasks.size()).mapToObj(queue::before).toList();
  }

  /** What is there at the moment when it's most, the largest first. */
  private List<Region> peak(Set<Region> streamed) {
    List<Region> most = List.of();
    long mostBytes = -1;
    for (Span at : spans.values()) {
      List<Region> alive = new ArrayList<>();
      for (Map.Entry<Region, Span> each : spans.entrySet()) {
        Span span = each.getValue();
        boolean stays =
            each.getKey().kind() != Region.Kind.ACTIVATION && !streamed.contains(each.getKey());
        if (stays || span.first() <= at.first() && at.first() <= span.last()) {
          alive.add(each.getKey());
        }
      }
      long bytes = alive.stream().mapToLong(Region::bytes).sum();
      if (bytes > mostBytes) {
        mostBytes = bytes;
        most = alive;
      }
    }
    return most.stream().sorted(Comparator.comparingLong(Region::bytes).reversed()).toList();
  }

  /** Tables of which rows are fetched. */
  private SequencedMap<Region, Long> tables() {
    SequencedMap<Region, Long> tables = new LinkedHashMap<>();
    long end = 0;
    for (Task task : tasks) {
      if (task instanceof Task.Rows rows && !tables.containsKey(rows.table())) {
        tables.put(rows.table(), end);
        end += aligned(rows.table().bytes());
      }
    }
    return tables;
  }
}
