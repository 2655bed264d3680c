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
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Puts the regions of a chip in its memories: in L2 constants that stay from offset 0 on, then
 * states, then what lives for some steps, then room for weights that come from L3. Of weights stay,
 * in this order, as many as fit: all; those of blocks; none.
 */
public final class Placement {
  /** Of everything in L2 and L3: an i64 is read from L2 by the control core. */
  private static final long ALIGNMENT = 8;

  /**
   * Smaller constants stay in L2, such as those of norms: they would fill the queue of transfers.
   */
  private static final long SMALLEST_STREAMED = 8192;

  /** Room through which weights can pass in parts that are worth a loop each. */
  private static final long SMALLEST_RING = 65_536;

  private final List<Task> tasks;
  private final SequencedMap<Region, Span> spans;
  private final long l2Bytes;
  private final long l3Bytes;
  private final boolean prefetch;

  private Placement(
      List<Task> tasks,
      SequencedMap<Region, Span> spans,
      long l2Bytes,
      long l3Bytes,
      boolean prefetch) {
    this.tasks = tasks;
    this.spans = spans;
    this.l2Bytes = l2Bytes;
    this.l3Bytes = l3Bytes;
    this.prefetch = prefetch;
  }

  /**
   * @param given what a caller writes before a run
   * @param kept what it reads after a run
   * @param outside constants that belong to no block
   * @param l2Bytes what L2 has
   * @param l3Bytes what L3 has; 0 if there's none
   * @param prefetch whether weights are fetched before they're needed
   * @param keepBlocks whether weights of blocks stay if there's room for others to pass
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
      boolean keepBlocks) {
    SequencedMap<Region, Span> spans = new Lifetimes(tasks, given, kept).spans();
    Placement placement = new Placement(tasks, spans, l2Bytes, l3Bytes, prefetch);
    Predicate<Region> large =
        region -> region.kind() == Region.Kind.CONSTANT && region.bytes() >= SMALLEST_STREAMED;
    Places resident = placement.place(region -> false);
    if (l3Bytes == 0 || resident.l2Use().used() <= l2Bytes) {
      return resident;
    }
    Places blocks = placement.place(large.and(outside::contains));
    return keepBlocks && blocks.ringBytes() >= SMALLEST_RING ? blocks : placement.place(large);
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
      units.add(new WeightRing.Unit(aligned(region.bytes()), span.first(), span.last()));
      if (!l3.containsKey(region)) {
        l3.put(region, l3End);
        l3End += aligned(region.bytes());
      }
    }
    long room = l2Bytes - ring;
    Optional<List<WeightRing.Slot>> slots = WeightRing.place(units, room);
    TransferQueue queue = new TransferQueue(prefetch);
    long used = ring;
    for (int i = 0; i < streamed.size() && slots.isPresent(); i++) {
      Region region = streamed.get(i);
      WeightRing.Slot slot = slots.get().get(i);
      long at = ring + slot.offset();
      l2.put(region, at);
      used = Math.max(used, at + units.get(i).bytes());
      queue.add(
          slot.free(),
          units.get(i).first(),
          l3.get(region),
          at,
          aligned(region.bytes()),
          region.name());
    }
    List<List<ScheduleStep>> before = new ArrayList<>();
    for (int i = 0; i < tasks.size(); i++) {
      before.add(queue.before(i));
    }
    long largest = streamed.stream().mapToLong(each -> aligned(each.bytes())).max().orElse(0);
    return new Places(
        l2,
        l3,
        streamed,
        before,
        new MemoryUse(slots.isPresent() ? used : Math.max(needed, ring + largest), needed, l2Bytes),
        new MemoryUse(l3End, l3End, l3Bytes),
        slots.isPresent(),
        room,
        peak(streamed));
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
