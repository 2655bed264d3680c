package io.partita.passes.schedule.place;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A ring in the home memory for weights and states that are streamed from a farther one. Each takes
 * the slot that is free earliest, so that its transfer can begin as early as possible.
 */
final class WeightRing {
  /**
   * A region that is fetched as a whole.
   *
   * @param bytes a multiple of the alignment
   * @param first the first task that reads it
   * @param last the last task that reads it, or the task before which it is written back
   */
  record Unit(long bytes, int first, int last) {}

  /**
   * @param offset in the ring, in bytes
   * @param free the task before which its transfer may begin
   */
  record Slot(long offset, int free) {}

  private WeightRing() {}

  /**
   * Slots for all units.
   *
   * @param slots the slots; none if the units don't fit
   * @param bytes that the units take, or would take in a large enough ring
   */
  record Placed(Optional<List<Slot>> slots, long bytes) {
    private static Placed of(List<Unit> units, List<Slot> slots) {
      long bytes =
          IntStream.range(0, units.size())
              .mapToLong(i -> slots.get(i).offset + units.get(i).bytes)
              .max()
              .orElse(0);
      return new Placed(Optional.of(slots), bytes);
    }
  }

  /**
   * Assigns slots. If a unit finds no slot in time, all units are packed by live range instead,
   * which leaves less time for transfers.
   *
   * @param units by the first task that reads them
   * @param bytes the size of the ring
   */
  static Placed place(List<Unit> units, long bytes) {
    Optional<List<Slot>> earliest = earliest(units, bytes);
    if (earliest.isPresent()) {
      return Placed.of(units, earliest.get());
    }
    OffsetPacking.Packed packed =
        OffsetPacking.pack(
            units.stream()
                .map(unit -> new OffsetPacking.Interval(unit.bytes, unit.first, unit.last))
                .toList());
    return packed.bytes() > bytes
        ? new Placed(Optional.empty(), packed.bytes())
        : Placed.of(units, slots(units, packed.offsets()));
  }

  private static List<Slot> slots(List<Unit> units, List<Long> offsets) {
    Uses uses = new Uses();
    List<Slot> slots = new ArrayList<>();
    int earliest = 0;
    for (int i = 0; i < units.size(); i++) {
      long offset = offsets.get(i);
      earliest = Math.max(earliest, uses.last(offset, units.get(i).bytes) + 1);
      slots.add(new Slot(offset, earliest));
      uses.add(offset, units.get(i));
    }
    return slots;
  }

  private static Optional<List<Slot>> earliest(List<Unit> units, long bytes) {
    Uses uses = new Uses();
    List<Slot> slots = new ArrayList<>();
    int earliest = 0;
    for (Unit unit : units) {
      Slot best = null;
      for (long offset : uses.last.keySet()) {
        if (offset + unit.bytes <= bytes) {
          int free = Math.max(earliest, uses.last(offset, unit.bytes) + 1);
          if (best == null || free < best.free) {
            best = new Slot(offset, free);
          }
        }
      }
      if (best == null || best.free > unit.first) {
        return Optional.empty();
      }
      slots.add(best);
      uses.add(best.offset, unit);
      earliest = best.free;
    }
    return Optional.of(slots);
  }

  /**
   * Returns for each unit the last task that uses any byte of its slot, by this unit or another
   * one.
   */
  static int[] lastUses(List<Unit> units, List<Slot> slots) {
    Uses uses = new Uses();
    for (int i = 0; i < units.size(); i++) {
      uses.add(slots.get(i).offset, units.get(i));
    }
    return IntStream.range(0, units.size())
        .map(i -> uses.last(slots.get(i).offset, units.get(i).bytes))
        .toArray();
  }

  /**
   * The last task that uses each byte. It is the same for all bytes from one offset to the next,
   * and another one from there on: a slot that begins within such a range is never free earlier
   * than one at its beginning.
   */
  private static final class Uses {
    private static final int UNUSED = -1;
    private static final int NEVER = -2;

    private final TreeMap<Long, Integer> last = new TreeMap<>(Map.of(0L, UNUSED));

    int last(long offset, long bytes) {
      int latest = last.floorEntry(offset).getValue();
      for (int each : last.subMap(offset, offset + bytes).values()) {
        latest = Math.max(latest, each);
      }
      return latest;
    }

    void add(long offset, Unit unit) {
      long end = offset + unit.bytes;
      last.putIfAbsent(offset, last.floorEntry(offset).getValue());
      last.putIfAbsent(end, last.floorEntry(end).getValue());
      last.subMap(offset, end).replaceAll((from, task) -> Math.max(task, unit.last));
      Map.Entry<Long, Integer> lower = last.lowerEntry(offset);
      int before = lower == null ? NEVER : lower.getValue();
      Iterator<Integer> tasks = last.subMap(offset, true, end, true).values().iterator();
      while (tasks.hasNext()) {
        int task = tasks.next();
        if (task == before) {
          tasks.remove();
        }
        before = task;
      }
    }
  }
}
