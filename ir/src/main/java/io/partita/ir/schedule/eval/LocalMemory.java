package io.partita.ir.schedule.eval;

import java.util.BitSet;

/**
 * A memory of a device that steps work on: its bytes, which of them have a value, and which mayn't
 * be written to.
 */
final class LocalMemory {
  private final String name;
  private final byte[] bytes;
  private final BitSet written = new BitSet();
  private final BitSet held = new BitSet();

  LocalMemory(String name, long size) {
    this.name = name;
    bytes = new byte[Math.toIntExact(size)];
  }

  String name() {
    return name;
  }

  byte[] bytes() {
    return bytes;
  }

  boolean contains(long from, long count) {
    return from >= 0 && count >= 0 && from + count <= bytes.length;
  }

  /** The first byte without a value among some; -1 if all have one. */
  int unwritten(int from, int count) {
    int at = written.nextClearBit(from);
    return at < from + count ? at : -1;
  }

  /** The first of some bytes that mayn't be written to; -1 if all may. */
  int held(int from, int count) {
    int at = held.nextSetBit(from);
    return at >= 0 && at < from + count ? at : -1;
  }

  /** Bytes have a value. */
  void write(int from, int count) {
    written.set(from, from + count);
  }

  /** Bytes have none any more. */
  void forget(int from, int count) {
    written.clear(from, from + count);
  }

  void forgetAllBut(BitSet kept) {
    written.and(kept);
  }

  /** Nobody may write to bytes until they are released. */
  void hold(int from, int count) {
    held.set(from, from + count);
  }

  void release(int from, int count) {
    held.clear(from, from + count);
  }
}
