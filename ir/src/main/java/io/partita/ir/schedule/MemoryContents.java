package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Residence;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What each byte of the home and working memories of a chip holds at a step of a run, and the
 * objects that live there. Its checks say at which step they fail.
 */
final class MemoryContents {
  /** No value. */
  static final byte EMPTY = 0;

  static final byte WRITTEN = 1;
  static final byte CONSTANT = 2;

  /** What a transfer or a message writes. */
  static final byte ARRIVING = 3;

  /** What one reads. */
  static final byte LEAVING = 4;

  private static final int IN_TRANSFER = 1 << ARRIVING | 1 << LEAVING;
  private static final int WITHOUT_VALUE = 1 << EMPTY | 1 << ARRIVING;
  private static final int WRITABLE = 1 << EMPTY | 1 << WRITTEN;

  private final ChipSchedule chip;
  private final ByteStates home;
  private final ByteStates working;

  /** The copies of states in each memory from the third on. */
  private final List<StateCopies> copies = new ArrayList<>();

  private final List<Residence> byFirst;
  private final List<Residence> alive = new ArrayList<>();

  /** The live object that was used last, since the rows of an operand are mostly in one. */
  private Residence recent;

  private int nextResidence;
  private int index = -1;
  private ScheduleStep step;

  MemoryContents(ChipSchedule chip) {
    this.chip = chip;
    this.home = new ByteStates(chip.home().used());
    this.working = new ByteStates(chip.working().used());
    for (int memory = ChipSchedule.HOME + 1; memory < chip.memories().size(); memory++) {
      copies.add(new StateCopies(chip, memory));
    }
    this.byFirst = new ArrayList<>(chip.residences());
    byFirst.sort(Comparator.comparingInt(Residence::first));
  }

  List<StateCopies> copies() {
    return copies;
  }

  /**
   * Goes to a step.
   *
   * @param index in the run; -1 before it
   * @param step null if it is none
   */
  void at(int index, ScheduleStep step) {
    this.index = index;
    this.step = step;
  }

  private String where() {
    return "device "
        + chip.devices().getFirst()
        + (step == null ? "" : ", step " + index + " for \"" + step.origin().name() + '"');
  }

  void require(boolean condition, Object expected, Object found) {
    ScheduleFault.MEMORY.require(condition, where(), expected, found);
  }

  void requireTransfer(boolean condition, Object expected, Object found) {
    ScheduleFault.TRANSFER.require(condition, where(), expected, found);
  }

  /** Bytes of any memory. */
  record Extent(Address at, long bytes) {
    boolean meets(Extent other) {
      return at.memory() == other.at.memory()
          && at.offset() < other.at.offset() + other.bytes
          && other.at.offset() < at.offset() + bytes;
    }
  }

  void requireInside(Address at, long bytes) {
    if (at.memory() < 0 || at.memory() >= chip.memories().size()) {
      require(false, "a memory of " + chip.memories().size(), at);
    }
    MemoryUse use = chip.memories().get(at.memory());
    if (at.offset() < 0 || at.offset() + bytes > use.used()) {
      require(
          false, "bytes below " + use.used() + " of " + use.name(), bytes + " from " + at.offset());
    }
  }

  /** Begins live ranges, which must not overlap others and have no values yet. */
  void enter() {
    alive.removeIf(each -> each.last() < index);
    recent = null;
    while (nextResidence < byFirst.size() && byFirst.get(nextResidence).first() <= index) {
      Residence entering = byFirst.get(nextResidence++);
      requireInside(entering.at(), entering.bytes());
      Extent own = new Extent(entering.at(), entering.bytes());
      for (Residence other : alive) {
        if (own.meets(new Extent(other.at(), other.bytes()))) {
          require(false, "bytes disjoint from " + other, entering);
        }
      }
      requireIdle(entering.at(), entering.bytes());
      fill(entering.at(), entering.bytes(), EMPTY);
      if (entering.at().isHome()) {
        copies.forEach(each -> each.forget(entering.offset(), entering.bytes()));
      }
      alive.add(entering);
    }
  }

  void fill(long home, long bytes, byte content) {
    fill(Address.home(home), bytes, content);
  }

  void fill(Address at, long bytes, byte content) {
    states(at).fill(at.offset(), bytes, content);
  }

  /** Returns what bytes of the home memory hold. */
  byte[] contents(long from, long bytes) {
    return home.copy(from, bytes);
  }

  /** Gives bytes of the home memory what they held. */
  void restore(long from, byte[] contents) {
    home.restore(from, contents);
  }

  /** Returns the states of the home memory or the working one. */
  private ByteStates states(Address at) {
    return at.isHome() ? home : working;
  }

  void requireConstant(long home, long bytes) {
    requireInside(Address.home(home), bytes);
    long wrong = this.home.first(home, bytes, ~(1 << CONSTANT));
    if (wrong >= 0) {
      require(false, "bytes of a constant", wrong);
    }
  }

  /** Checks that no transfer uses bytes that a step is about to use. */
  void requireIdle(Address at, long bytes) {
    long wrong = states(at).first(at.offset(), bytes, IN_TRANSFER);
    if (wrong >= 0) {
      require(false, "no transfer in " + bytes + " bytes from " + at, wrong);
    }
  }

  void read(String name, long home, long bytes) {
    read(name, Address.home(home), bytes);
  }

  void read(String name, Address at, long bytes) {
    requireResident(name, at, bytes);
    requireWritten(name, at, bytes);
  }

  void requireWritten(String name, long home, long bytes) {
    requireWritten(name, Address.home(home), bytes);
  }

  void requireWritten(String name, Address from, long bytes) {
    requireInside(from, bytes);
    long wrong = states(from).first(from.offset(), bytes, WITHOUT_VALUE);
    if (wrong >= 0) {
      boolean isArriving = states(from).get(wrong) == ARRIVING;
      require(
          false,
          name + " written before it is read",
          "byte " + wrong + (isArriving ? " that a transfer writes" : " without value"));
    }
  }

  void write(String name, long home, long bytes) {
    write(name, Address.home(home), bytes);
  }

  void write(String name, Address to, long bytes) {
    requireInside(to, bytes);
    requireResidents(name, to, bytes);
    long wrong = states(to).first(to.offset(), bytes, ~WRITABLE);
    if (wrong >= 0) {
      String what = states(to).get(wrong) == CONSTANT ? "a constant" : "a transfer in flight";
      require(false, name + " written to free memory", "byte " + wrong + " of " + what);
    }
    fill(to, bytes, WRITTEN);
    if (to.isHome()) {
      copies.forEach(each -> each.wrote(to.offset(), bytes));
    }
  }

  /** Checks that bytes belong to one object. */
  private void requireResident(String name, Address at, long bytes) {
    if (bytes > 0 && !chip.residences().isEmpty() && end(at) < at.offset() + bytes) {
      require(false, name + " in memory of a live value", bytes + " from " + at.offset());
    }
  }

  /** Checks that bytes belong to one object, or to several that are adjacent. */
  void requireResidents(String name, Address at, long bytes) {
    long last = at.offset() + bytes;
    for (long from = at.offset(); from < last && !chip.residences().isEmpty(); ) {
      long end = end(new Address(at.memory(), from));
      if (end == from) {
        require(false, name + " in memory of live values", bytes + " from " + at.offset());
      }
      from = end;
    }
  }

  /** Returns the end of the object at an address; the address itself if there is none. */
  private long end(Address at) {
    if (recent == null || !recent.holds(at)) {
      recent = null;
      for (Residence each : alive) {
        if (each.holds(at)) {
          recent = each;
          break;
        }
      }
    }
    return recent == null ? at.offset() : recent.offset() + recent.bytes();
  }
}
