package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Tracks the bytes of states in a memory farther than the home memory: whether they are current
 * when they are fetched and after a run, and whether spilled bytes come from where they were
 * fetched to.
 */
final class StateCopies {
  private static final byte NEWEST = 0;
  private static final byte BEHIND = 1;
  private static final byte COMING = 2;

  /** Unchanged outside of the lines of one update. */
  private static final byte LINES = 3;

  /** The unit of transfers. */
  private static final long ALIGNMENT = 8;

  private final int memory;
  private final String name;
  private final String homeName;
  private final long first;

  /** Entries for each byte, beginning with the first state. */
  private final byte[] far;

  /**
   * The update that changed a byte last; only for {@link #LINES} and what becomes of them.
   *
   * @see #updates
   */
  private final int[] changedBy;

  /** The updates whose lines haven't been spilled yet; null for others. */
  private final List<Update> updates = new ArrayList<>();

  /** The number of the update that is writing, or -1. */
  private int writing = -1;

  /**
   * An update of lines.
   *
   * @param home the start of the state in the home memory
   */
  private record Update(StateLines lines, long home) {
    boolean isOf(StartTransfer spill) {
      return spill.home() == home && spill.lines().equals(Optional.of(lines));
    }

    boolean isAt(long from, long bytes) {
      long end = lines.position() + lines.index().packedBytes(1);
      return from < end && lines.position() < from + bytes;
    }
  }

  /** The home address to which each byte was fetched, or -1. */
  private final int[] copy;

  /** The byte of which each home byte is a copy, or -1. */
  private final int[] origin;

  /**
   * @param memory the number of the memory
   */
  StateCopies(ChipSchedule chip, int memory) {
    this.memory = memory;
    this.name = chip.memories().get(memory).name();
    this.homeName = chip.home().name();
    long start = Long.MAX_VALUE;
    long end = 0;
    for (Port state : chip.states()) {
      if (state.at().memory() == memory) {
        start = Math.min(start, state.at().offset());
        long bytes = Math.ceilDiv(state.type().bytes(), ALIGNMENT) * ALIGNMENT;
        end = Math.max(end, state.at().offset() + bytes);
      }
    }
    first = start;
    int bytes = Math.toIntExact(Math.max(0, end - start));
    far = new byte[bytes];
    copy = new int[bytes];
    changedBy = new int[bytes];
    origin = new int[bytes == 0 ? 0 : Math.toIntExact(chip.home().used())];
    Arrays.fill(copy, -1);
    Arrays.fill(origin, -1);
  }

  /** Records that home bytes belong to another object. */
  void forget(long home, long bytes) {
    for (int at = (int) home; at < home + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        copy[origin[at]] = -1;
        origin[at] = -1;
      }
    }
  }

  /** Records that writes up to {@link #endUpdate} change only lines of a state. */
  void beginUpdate(StateLines lines, long home) {
    writing = updates.size();
    updates.add(new Update(lines, home));
  }

  void endUpdate() {
    writing = -1;
  }

  /** Records that home bytes have changed. */
  void wrote(long home, long bytes) {
    updates.replaceAll(each -> each != null && each.isAt(home, bytes) ? null : each);
    for (int at = (int) home; at < home + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        boolean isLines = writing >= 0 && far[origin[at]] == NEWEST;
        far[origin[at]] = isLines ? LINES : BEHIND;
        changedBy[origin[at]] = writing;
      }
    }
  }

  /** Describes the fault of a transfer that begins; null if there is none. */
  String started(StartTransfer start) {
    if (start.far().memory() != memory) {
      return null;
    }
    int update = updateOf(start);
    if (start.lines().isPresent() && update < 0) {
      return "lines that no update before has changed, or whose position has changed since";
    }
    for (long i = 0; i < start.extent(); i++) {
      int state = state(start.far().offset() + i);
      int near = (int) (start.home() + i);
      if (state < 0) {
        if (!start.fetch()) {
          return "byte "
              + (start.far().offset() + i)
              + " of "
              + name
              + ", which belongs to no state";
        }
      } else if (start.fetch()) {
        if (far[state] != NEWEST || copy[state] >= 0) {
          return "byte " + (start.far().offset() + i) + " of " + name + ", which has a later copy";
        }
        copy[state] = near;
        origin[near] = state;
      } else {
        if (origin[near] != state) {
          return "byte " + near + " of " + homeName + ", which wasn't fetched from there";
        }
        boolean isMoved = update < 0 || far[state] == LINES && changedBy[state] == update;
        far[state] = isMoved ? COMING : far[state];
      }
    }
    if (update >= 0) {
      updates.set(update, null);
    }
    return null;
  }

  /** Returns the number of the update whose lines a transfer moves, or -1. */
  private int updateOf(StartTransfer start) {
    return IntStream.range(0, updates.size())
        .filter(i -> updates.get(i) != null && updates.get(i).isOf(start))
        .findFirst()
        .orElse(-1);
  }

  /** Records the end of a transfer. */
  void ended(StartTransfer ended) {
    if (ended.far().memory() != memory) {
      return;
    }
    for (long i = 0; i < ended.extent() && !ended.fetch(); i++) {
      int state = state(ended.far().offset() + i);
      far[state] = far[state] == COMING ? NEWEST : far[state];
    }
  }

  /** Returns a byte whose current value only the home memory has, or -1. */
  long behind() {
    for (int i = 0; i < far.length; i++) {
      if (far[i] != NEWEST) {
        return first + i;
      }
    }
    return -1;
  }

  private int state(long at) {
    return first <= at && at < first + far.length ? (int) (at - first) : -1;
  }

  @Override
  public String toString() {
    return name;
  }
}
