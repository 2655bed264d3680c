package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import java.util.Arrays;

/**
 * Follows byte by byte what a memory beyond the home one holds of states: whether it's the newest
 * when it's fetched and after a run, and whether what is spilled comes from where it was fetched
 * to.
 */
final class StateCopies {
  private static final byte NEWEST = 0;
  private static final byte BEHIND = 1;
  private static final byte COMING = 2;

  /** What transfers are rounded up to. */
  private static final long ALIGNMENT = 8;

  private final int memory;
  private final String name;
  private final String homeName;
  private final long first;

  /** For each byte from the first state there on. */
  private final byte[] far;

  /** Where at home a byte was fetched to; -1 if it isn't there. */
  private final int[] copy;

  /** Of which byte there a byte at home is the copy; -1 if it's none. */
  private final int[] origin;

  /**
   * @param memory its number
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

  /** Bytes at home belong to something else now. */
  void forget(long home, long bytes) {
    for (int at = (int) home; at < home + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        copy[origin[at]] = -1;
        origin[at] = -1;
      }
    }
  }

  /** Bytes at home have changed. */
  void wrote(long home, long bytes) {
    for (int at = (int) home; at < home + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        far[origin[at]] = BEHIND;
      }
    }
  }

  /** What is wrong with a transfer that begins; null if nothing is. */
  String started(StartTransfer start) {
    if (start.far().memory() != memory) {
      return null;
    }
    for (long i = 0; i < start.bytes(); i++) {
      int state = state(start.far().offset() + i);
      int near = (int) (start.home() + i);
      if (state < 0) {
        if (!start.fetch()) {
          return "byte " + (start.far().offset() + i) + " of " + name + ", which is of no state";
        }
      } else if (start.fetch()) {
        if (far[state] != NEWEST || copy[state] >= 0) {
          return "byte " + (start.far().offset() + i) + " of " + name + ", which has a newer copy";
        }
        copy[state] = near;
        origin[near] = state;
      } else {
        if (origin[near] != state) {
          return "byte " + near + " of " + homeName + ", which isn't what was fetched from there";
        }
        far[state] = COMING;
      }
    }
    return null;
  }

  /** A transfer has ended. */
  void ended(StartTransfer ended) {
    if (ended.far().memory() != memory) {
      return;
    }
    for (long i = 0; i < ended.bytes() && !ended.fetch(); i++) {
      int state = state(ended.far().offset() + i);
      far[state] = far[state] == COMING ? NEWEST : far[state];
    }
  }

  /** A byte of which the home memory alone has the newest value; -1 if there's none. */
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
