package io.partita.passes.schedule.place;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Room in L2 for weights that come from L3 one after the other. Each takes the place that is free
 * earliest, so that its transfer can begin as early as may be.
 */
final class WeightRing {
  /**
   * Weights that are fetched in one go.
   *
   * @param bytes a multiple of the alignment
   * @param first the first task that reads them
   * @param last the last one
   */
  record Unit(long bytes, int first, int last) {}

  /**
   * @param offset from the start of the ring
   * @param free the task before which its transfer may begin
   */
  record Slot(long offset, int free) {}

  private WeightRing() {}

  /**
   * @param units by the first task that reads them
   * @param bytes of the ring
   * @return none if a unit isn't free when it's needed
   */
  static Optional<List<Slot>> place(List<Unit> units, long bytes) {
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
