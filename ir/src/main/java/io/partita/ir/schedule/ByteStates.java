package io.partita.ir.schedule;

import java.util.Arrays;

/**
 * A state from 0 to 7 for each byte of a memory of any size. A page whose bytes all have the same
 * state takes no room, so that memories with gigabytes of constants do, too.
 */
final class ByteStates {
  private static final int PAGE = 1 << 16;

  /** The states of a page's bytes; null if all are {@link #common}. */
  private final byte[][] pages;

  private final byte[] common;

  /** All bytes have state 0. */
  ByteStates(long bytes) {
    int count = Math.toIntExact(Math.ceilDiv(bytes, PAGE));
    this.pages = new byte[count][];
    this.common = new byte[count];
  }

  byte get(long at) {
    int page = page(at);
    return pages[page] == null ? common[page] : pages[page][inPage(at)];
  }

  void fill(long from, long bytes, byte state) {
    long end = from + bytes;
    for (long at = from; at < end; at = nextPage(at)) {
      int page = page(at);
      if (inPage(at) == 0 && end - at >= PAGE) {
        pages[page] = null;
        common[page] = state;
      } else if (pages[page] != null || common[page] != state) {
        Arrays.fill(whole(page), inPage(at), endInPage(at, end), state);
      }
    }
  }

  /** Returns the states of bytes. */
  byte[] copy(long from, long bytes) {
    byte[] states = new byte[Math.toIntExact(bytes)];
    for (int i = 0; i < states.length; i++) {
      states[i] = get(from + i);
    }
    return states;
  }

  /** Gives bytes the states of a copy. */
  void restore(long from, byte[] states) {
    for (int i = 0; i < states.length; i++) {
      fill(from + i, 1, states[i]);
    }
  }

  /**
   * Returns the first byte that has one of some states, or -1 if none has.
   *
   * @param states bit i stands for state i
   */
  long first(long from, long bytes, int states) {
    long end = from + bytes;
    for (long at = from; at < end; at = nextPage(at)) {
      int page = page(at);
      if (pages[page] == null) {
        if (isOneOf(common[page], states)) {
          return at;
        }
        continue;
      }
      int last = endInPage(at, end);
      for (int i = inPage(at); i < last; i++) {
        if (isOneOf(pages[page][i], states)) {
          return (long) page * PAGE + i;
        }
      }
    }
    return -1;
  }

  private static boolean isOneOf(byte state, int states) {
    return (states >> state & 1) != 0;
  }

  private byte[] whole(int page) {
    if (pages[page] == null) {
      pages[page] = new byte[PAGE];
      Arrays.fill(pages[page], common[page]);
    }
    return pages[page];
  }

  private static int page(long at) {
    return (int) (at / PAGE);
  }

  private static int inPage(long at) {
    return (int) (at % PAGE);
  }

  private static long nextPage(long at) {
    return (at / PAGE + 1) * PAGE;
  }

  private static int endInPage(long at, long end) {
    return (int) Math.min(PAGE, end - (at - inPage(at)));
  }
}
