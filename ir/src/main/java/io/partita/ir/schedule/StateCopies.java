package io.partita.ir.schedule;

import io.partita.ir.schedule.ChipSchedule.Level;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import java.util.Arrays;

/**
 * Follows byte by byte what L3 holds of states: whether it's the newest when it's fetched and after
 * a run, and whether what is spilled comes from where it was fetched to.
 */
final class StateCopies {
  private static final byte NEWEST = 0;
  private static final byte BEHIND = 1;
  private static final byte COMING = 2;

  /** What transfers are rounded up to. */
  private static final long ALIGNMENT = 8;

  private final long first;

  /** For each byte from the first state in L3 on. */
  private final byte[] l3;

  /** Where in L2 a byte of L3 was fetched to; -1 if it isn't there. */
  private final int[] copy;

  /** Of which byte of L3 a byte of L2 is the copy; -1 if it's none. */
  private final int[] origin;

  StateCopies(ChipSchedule chip) {
    long start = Long.MAX_VALUE;
    long end = 0;
    for (Port state : chip.states()) {
      if (state.level() == Level.L3) {
        start = Math.min(start, state.offset());
        long bytes = Math.ceilDiv(state.type().bytes(), ALIGNMENT) * ALIGNMENT;
        end = Math.max(end, state.offset() + bytes);
      }
    }
    first = start;
    int bytes = Math.toIntExact(Math.max(0, end - start));
    l3 = new byte[bytes];
    copy = new int[bytes];
    origin = new int[bytes == 0 ? 0 : Math.toIntExact(chip.l2().used())];
    Arrays.fill(copy, -1);
    Arrays.fill(origin, -1);
  }

  /** Bytes of L2 belong to something else now. */
  void forget(long l2, long bytes) {
    for (int at = (int) l2; at < l2 + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        copy[origin[at]] = -1;
        origin[at] = -1;
      }
    }
  }

  /** Bytes of L2 have changed. */
  void wrote(long l2, long bytes) {
    for (int at = (int) l2; at < l2 + bytes && at < origin.length; at++) {
      if (origin[at] >= 0) {
        l3[origin[at]] = BEHIND;
      }
    }
  }

  /** What is wrong with a transfer that begins; null if nothing is. */
  String started(StartTransfer start) {
    for (long i = 0; i < start.bytes(); i++) {
      int state = state(start.l3() + i);
      int near = (int) (start.l2() + i);
      if (state < 0) {
        if (!start.fetch()) {
          return "byte " + (start.l3() + i) + " of L3, which is of no state";
        }
      } else if (start.fetch()) {
        if (l3[state] != NEWEST || copy[state] >= 0) {
          return "byte " + (start.l3() + i) + " of L3, which has a newer copy";
        }
        copy[state] = near;
        origin[near] = state;
      } else {
        if (origin[near] != state) {
          return "byte " + near + " of L2, which isn't what was fetched from there";
        }
        l3[state] = COMING;
      }
    }
    return null;
  }

  /** A transfer has ended. */
  void ended(StartTransfer ended) {
    for (long i = 0; i < ended.bytes() && !ended.fetch(); i++) {
      int state = state(ended.l3() + i);
      l3[state] = l3[state] == COMING ? NEWEST : l3[state];
    }
  }

  /** A byte of which L2 has had the newest value only; -1 if there's none. */
  long behind() {
    for (int i = 0; i < l3.length; i++) {
      if (l3[i] != NEWEST) {
        return first + i;
      }
    }
    return -1;
  }

  private int state(long at) {
    return first <= at && at < first + l3.length ? (int) (at - first) : -1;
  }
}
