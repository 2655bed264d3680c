package io.partita.passes.schedule.place;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Room in L2 for weights and states that come from L3 one after the other. Each takes the place
 * that is free earliest, so that its transfer can begin as early as may be.
 */
final class WeightRing {
  /**
   * What is fetched in one go.
   *
   * @param bytes a multiple of the alignment
   * @param first the first task that reads it
   * @param last the last one, or the one before which it's on its way back
   */
  record Unit(long bytes, int first, int last) {}

  /**
   * @param offset from the start of the ring
   * @param free the task before which its transfer may begin
   */
  record Slot(long offset, int free) {}

  private WeightRing() {}

  /**
   * Where that leaves no room for one when it's needed, all are packed instead, which leaves less
   * time for transfers.
   *
   * @param units by the first task that reads them
   * @param bytes of the ring
   * @return none if they don't fit at all
   */
  static Optional<List<Slot>> place(List<Unit> units, long bytes) {
    Optional<List<Slot>> earliest = earliest(units, bytes);
    return earliest.isPresent() || packed(units).bytes() > bytes
        ? earliest
        : Optional.of(slots(units, packed(units).offsets()));
  }

  /** As closely as can be. */
  static OffsetPacking.Packed packed(List<Unit> units) {
    return OffsetPacking.pack(
        units.stream()
            .map(unit -> new OffsetPacking.Interval(unit.bytes, unit.first, unit.last))
            .toList());
  }

  private static List<Slot> slots(List<Unit> units, List<Long> offsets) {
    List<Slot> slots = new ArrayList<>();
    int earliest = 0;
    for (int i = 0; i < units.size(); i++) {
      long offset = offsets.get(i);
      earliest = Math.max(earliest, free(units, slots, offset, offset + units.get(i).bytes));
      slots.add(new Slot(offset, earliest));
    }
    return slots;
  }

  private static Optional<List<Slot>> earliest(List<Unit> units, long bytes) {
    List<Slot> slots = new ArrayList<>();
    TreeSet<Long> offsets = new TreeSet<>(List.of(0L));
    int earliest = 0;
    for (Unit unit : units) {
      Slot best = null;
      for (long offset : offsets) {
        if (offset + unit.bytes <= bytes) {
          int free = Math.max(earliest, free(units, slots, offset, offset + unit.bytes));
          if (best == null || free < best.free) {
            best = new Slot(offset, free);
          }
        }
      }
      if (best == null || best.free > unit.first) {
        return Optional.empty();
      }
      slots.add(best);
      offsets.add(best.offset + unit.bytes);
      earliest = best.free;
    }
    return Optional.of(slots);
  }

  /** The last task that uses any of the bytes that a unit gets. */
  static int lastUse(List<Unit> units, List<Slot> slots, int unit) {
    long from = slots.get(unit).offset;
    return free(units, slots, from, from + units.get(unit).bytes) - 1;
  }

  private static int free(List<Unit> units, List<Slot> slots, long from, long to) {
    int free = 0;
    for (int i = 0; i < slots.size(); i++) {
      long start = slots.get(i).offset;
      if (start < to && from < start + units.get(i).bytes) {
        free = Math.max(free, units.get(i).last + 1);
      }
    }
    return free;
  }
}
