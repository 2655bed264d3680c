package io.partita.passes.schedule.place;

import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.StateLines;
import io.partita.passes.schedule.place.Lifetimes.Span;
import io.partita.passes.schedule.view.Region;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The regions that are streamed through the home memory: their addresses there and their transfers.
 */
final class StreamedRegions {
  /**
   * A streamed region.
   *
   * @param changes what is written back of a state; none for a region that is not written
   */
  record One(Region region, WeightRing.Unit unit, List<Change> changes) {
    /**
     * @param unit the unit of addresses and sizes
     */
    static One of(Region region, Span span, List<Change> changes, long unit) {
      int last = changes.stream().mapToInt(Change::after).reduce(span.last(), Math::max);
      return new One(
          region,
          new WeightRing.Unit(Placement.aligned(region.bytes(), unit), span.first(), last),
          changes);
    }
  }

  /**
   * A part of a state that has its final value.
   *
   * @param after the task after the one that writes it
   * @param offset from the start of the region, in bytes
   * @param lines the lines from there on of which it consists; empty if it is the whole region
   */
  record Change(int after, long offset, Optional<StateLines> lines) {}

  /** The number of the farther memory. */
  private static final int FAR = ChipSchedule.HOME + 1;

  private final List<One> all;
  private final List<WeightRing.Unit> units;
  private final Optional<List<WeightRing.Slot>> slots;
  private final long bytes;
  private final boolean wraps;

  /**
   * @param all in the order of first use
   * @param room in bytes
   * @param wraps whether each run follows one of the same entry point, which may have begun its
   *     first transfers
   */
  StreamedRegions(List<One> all, long room, boolean wraps) {
    this.all = all;
    this.wraps = wraps;
    this.units = all.stream().map(One::unit).toList();
    WeightRing.Placed placed = WeightRing.place(units, room);
    this.slots = placed.slots();
    this.bytes = placed.bytes();
  }

  /** Returns whether all regions fit the ring. */
  boolean fits() {
    return slots.isPresent();
  }

  /** Returns the offset of a region in the ring. */
  long offset(int one) {
    return slots.orElseThrow().get(one).offset();
  }

  /** Returns the bytes of the ring that are used, or would be if it were large enough. */
  long bytes() {
    return bytes;
  }

  /**
   * Adds all transfers of a run to a queue; none if the regions don't fit.
   *
   * @param start the offset of the ring in the home memory
   * @param far the offsets of regions in the farther memory
   */
  TransferQueue queue(long start, Map<Region, Long> far, TransferQueue queue) {
    if (slots.isEmpty()) {
      return queue;
    }
    int[] again = WeightRing.lastUses(units, slots.get());
    boolean isEarly = wraps;
    for (int i = 0; i < all.size(); i++) {
      Region region = all.get(i).region;
      WeightRing.Unit unit = units.get(i);
      int free = slots.get().get(i).free();
      Address from = new Address(FAR, far.get(region));
      long to = start + offset(i);
      isEarly &= region.kind() == Region.Kind.CONSTANT && free == 0;
      if (isEarly) {
        isEarly = queue.early(again[i] + 1, unit.first(), from, to, unit.bytes(), region.origin());
      } else {
        queue.fetch(free, unit.first(), from, to, unit.bytes(), region.origin());
      }
    }
    record Spill(int region, Change change) {}
    IntStream.range(0, all.size())
        .boxed()
        .flatMap(i -> all.get(i).changes.stream().map(change -> new Spill(i, change)))
        .sorted(Comparator.comparingInt(spill -> spill.change.after))
        .forEach(
            spill -> {
              Region region = all.get(spill.region).region;
              Change change = spill.change;
              queue.spill(
                  change.after,
                  new Address(FAR, far.get(region) + change.offset),
                  start + offset(spill.region) + change.offset,
                  units.get(spill.region).bytes(),
                  change.lines,
                  region.origin());
            });
    return queue;
  }
}
