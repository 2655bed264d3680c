package io.partita.passes.schedule.place;

import io.partita.ir.schedule.ChipSchedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.place.Lifetimes.Span;
import io.partita.passes.schedule.place.OffsetPacking.Interval;
import io.partita.passes.schedule.place.OffsetPacking.Packed;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
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
  private final long l2Bytes;
  private final long l3Bytes;
  private final boolean prefetch;
  private final TransferTimes times;

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
  }

  /**
   * @param given what a caller writes before a run
   * @param kept what it reads after a run
   * @param outside constants that belong to no block
   * @param l2Bytes what L2 has
   * @param l3Bytes what L3 has; 0 if there's none
   * @param prefetch whether weights are fetched before they're needed
   * @param staying what stays in L2 if not all has room
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
      TransferTimes times,
      Staying staying) {
    SequencedMap<Region, Span> spans = new Lifetimes(tasks, given, kept).spans();
    Placement placement = new Placement(tasks, spans, l2Bytes, l3Bytes, prefetch, times);
    Places resident = placement.place(region -> false);
    if (l3Bytes == 0 || resident.l2Use().used() <= l2Bytes) {
      return resident;
    }
    Predicate<Region> large =
        region -> region.kind() != Region.Kind.ACTIVATION && region.bytes() >= SMALLEST_STREAMED;
    return placement.place(
        region ->
            large.test(region)
                && switch (staying) {
                  case BLOCKS -> outside.contains(region);
                  case STATES -> region.kind() == Region.Kind.CONSTANT;
                  case NOTHING -> true;
                });
  }

  /** Bytes that a region takes. */
  public static long aligned(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
  }

  private Places place(Predicate<Region> isStreamed) {
    SequencedMap<Region, Long> l2 = new LinkedHashMap<>();
    long end = 0;
    for (Region.Kind kind : List.of(Region.Kind.CONSTANT, Region.Kind.STATE)) {
      for (Region region : spans.keySet()) {
        if (region.kind() == kind && !isStreamed.test(region)) {
          l2.put(region, end);
          end += aligned(region.bytes());
        }
      }
    }
    List<Region> moving = new ArrayList<>();
    List<Region> streamed = new ArrayList<>();
    List<Interval> intervals = new ArrayList<>();
    for (Map.Entry<Region, Span> each : spans.entrySet()) {
      Region region = each.getKey();
      if (region.kind() == Region.Kind.ACTIVATION) {
        moving.add(region);
        intervals.add(interval(region));
      } else if (isStreamed.test(region)) {
        streamed.add(region);
      }
    }
    Packed packed = OffsetPacking.pack(intervals);
    for (int i = 0; i < moving.size(); i++) {
      l2.put(moving.get(i), end + packed.offsets().get(i));
    }
    long ring = end + packed.bytes();
    streamed.forEach(region -> intervals.add(interval(region)));
    long needed = end + OffsetPacking.needed(intervals);
    return stream(l2, streamed, ring, needed);
  }

  private Interval interval(Region region) {
    Span span = spans.get(region);
    return new Interval(aligned(region.bytes()), span.first(), span.last());
  }

  /**
   * @param ring where the room for streamed weights begins
   */
  private Places stream(
      SequencedMap<Region, Long> l2, List<Region> streamed, long ring, long needed) {
    SequencedMap<Region, Long> l3 = tables();
    long l3End =
        l3.isEmpty() ? 0 : l3.lastEntry().getValue() + aligned(l3.lastEntry().getKey().bytes());
    List<WeightRing.Unit> units = new ArrayList<>();
    for (Region region : streamed) {
      Span span = spans.get(region);
      int last = Math.max(span.last(), changed(region).orElse(0));
      units.add(new WeightRing.Unit(aligned(region.bytes()), span.first(), last));
      if (!l3.containsKey(region)) {
        l3.put(region, l3End);
        l3End += aligned(region.bytes());
      }
    }
    long room = l2Bytes - ring;
    Optional<List<WeightRing.Slot>> slots = WeightRing.place(units, room);
    long used = ring;
    for (int i = 0; i < streamed.size() && slots.isPresent(); i++) {
      long at = ring + slots.get().get(i).offset();
      l2.put(streamed.get(i), at);
      used = Math.max(used, at + units.get(i).bytes());
    }
    TransferQueue first = queue(streamed, units, slots, l2, l3, List.of());
    steps(first);
    TransferQueue queue = queue(streamed, units, slots, l2, l3, first.left());
    List<List<ScheduleStep>> before = steps(queue);
    return new Places(
        l2,
        l3,
        streamed,
        queue.start(),
        before,
        new MemoryUse(
            slots.isPresent() ? used : ring + WeightRing.packed(units).bytes(), needed, l2Bytes),
        new MemoryUse(l3End, l3End, l3Bytes),
        slots.isPresent() && used <= l2Bytes,
        room,
        queue.cycles(),
        peak(streamed));
  }

  /**
   * All transfers of a run.
   *
   * @param left how long those still take that the run before has begun
   */
  private TransferQueue queue(
      List<Region> streamed,
      List<WeightRing.Unit> units,
      Optional<List<WeightRing.Slot>> slots,
      Map<Region, Long> l2,
      Map<Region, Long> l3,
      List<Double> left) {
    TransferQueue queue = new TransferQueue(prefetch, times, left);
    if (slots.isEmpty()) {
      return queue;
    }
    boolean isEarly = true;
    for (int i = 0; i < streamed.size(); i++) {
      Region region = streamed.get(i);
      int free = slots.get().get(i).free();
      int first = units.get(i).first();
      long from = l3.get(region);
      long to = l2.get(region);
      isEarly &= region.kind() == Region.Kind.CONSTANT && free == 0;
      if (isEarly) {
        int again = Math.min(tasks.size(), WeightRing.lastUse(units, slots.get(), i) + 1);
        isEarly = queue.early(again, first, from, to, units.get(i).bytes(), region.name());
      } else {
        queue.fetch(free, first, from, to, units.get(i).bytes(), region.name());
      }
    }
    streamed.stream()
        .filter(region -> changed(region).isPresent())
        .sorted(Comparator.comparingInt(region -> changed(region).getAsInt()))
        .forEach(
            region ->
                queue.spill(
                    changed(region).getAsInt(),
                    l3.get(region),
                    l2.get(region),
                    aligned(region.bytes()),
                    region.name()));
    return queue;
  }

  private List<List<ScheduleStep>> steps(TransferQueue queue) {
    return IntStream.rangeClosed(0, tasks.size()).mapToObj(queue::before).toList();
  }

  /** The task before which a state is what it's to be after the run; none if it doesn't change. */
  private OptionalInt changed(Region region) {
    return IntStream.range(0, tasks.size())
        .filter(i -> region.kind() == Region.Kind.STATE && tasks.get(i).written().contains(region))
        .map(i -> i + 1)
        .max();
  }

  /** What is there at the moment when it's most, the largest first. */
  private List<Region> peak(List<Region> streamed) {
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
