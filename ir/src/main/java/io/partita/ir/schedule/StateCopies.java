package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import java.util.Arrays;

/**
 * Tracks the bytes of states in a memory farther than the home memory: whether they are current
 * when they are fetched and after a run, and whether spilled bytes come from where they were
 * fetched to.
 */
final class StateCopies {
  private static final byte NEWEST = 0;
  private static final byte BEHIND = 1;
  private static final byte COMING = 2;

  /** The unit of transfers. */
  private static final long ALIGNMENT = 8;

  private final int memory;
  private final String name;
  private final String homeName;
  private final long first;

  /** Entries for each byte, beginning with the first state. */
  private final byte[] far;

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

  /** Records that home bytes have changed. */
  void wrote(long home, long bytes) {
    for (int at = (int) home; at < home + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        far[origin[at]] = BEHIND;
      }
    }
  }

  /** Describes the fault of a transfer that begins; null if there is none. */
  String started(StartTransfer start) {
    if (start.far().memory() != memory) {
      return null;
    }
    for (long i = 0; i < start.bytes(); i++) {
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
        far[state] = COMING;
      }
    }
    return null;
  }

  /** Records the end of a transfer. */
  void ended(StartTransfer ended) {
    if (ended.far().memory() != memory) {
      return;
    }
    for (long i = 0; i < ended.bytes() && !ended.fetch(); i++) {
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
