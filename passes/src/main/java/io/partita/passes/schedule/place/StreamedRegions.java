package io.partita.passes.schedule.place;

import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.passes.schedule.place.Lifetimes.Span;
import io.partita.passes.schedule.view.Region;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** What passes through the home memory: where each region lies meanwhile, and its transfers. */
final class StreamedRegions {
  /**
   * A region.
   *
   * @param changed the task before which a state is what it's to be after the run; none for what
   *     doesn't change
   */
  record One(Region region, WeightRing.Unit unit, OptionalInt changed) {
    /**
     * @param changed null for what no task writes to
     * @param unit of its place and size
     */
    static One of(Region region, Span span, Integer changed, long unit) {
      int last = Math.max(span.last(), changed == null ? 0 : changed);
      return new One(
          region,
          new WeightRing.Unit(Placement.aligned(region.bytes(), unit), span.first(), last),
          changed == null ? OptionalInt.empty() : OptionalInt.of(changed));
    }
  }

  /** The number of the memory that regions come from. */
  private static final int FAR = ChipSchedule.HOME + 1;

  private final List<One> all;
  private final List<WeightRing.Unit> units;
  private final Optional<List<WeightRing.Slot>> slots;
  private final long bytes;
  private final boolean wraps;

  /**
   * @param all in the order in which they're needed
   * @param room in bytes
   * @param wraps whether a run always follows another one of its kind, and so may find transfers
   *     that the last one began
   */
  StreamedRegions(List<One> all, long room, boolean wraps) {
    this.all = all;
    this.wraps = wraps;
    this.units = all.stream().map(One::unit).toList();
    WeightRing.Placed placed = WeightRing.place(units, room);
    this.slots = placed.slots();
    this.bytes = placed.bytes();
  }

  /** Whether there's room enough. */
  boolean fits() {
    return slots.isPresent();
  }

  /** From the start of the room. */
  long offset(int one) {
    return slots.orElseThrow().get(one).offset();
  }

  /** How much of the room is used, or would be if there were enough. */
  long bytes() {
    return bytes;
  }

  /**
   * Adds all transfers of a run to a queue; none if there isn't room enough.
   *
   * @param start where the room begins
   * @param far where regions are in the farther memory
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
        isEarly = queue.early(again[i] + 1, unit.first(), from, to, unit.bytes(), region.name());
      } else {
        queue.fetch(free, unit.first(), from, to, unit.bytes(), region.name());
      }
    }
    IntStream.range(0, all.size())
        .filter(i -> all.get(i).changed.isPresent())
        .boxed()
        .sorted(Comparator.comparingInt(i -> all.get(i).changed.getAsInt()))
        .forEach(
            i ->
                queue.spill(
                    all.get(i).changed.getAsInt(),
                    new Address(FAR, far.get(all.get(i).region)),
                    start + offset(i),
                    units.get(i).bytes(),
                    all.get(i).region.name()));
    return queue;
  }
}
