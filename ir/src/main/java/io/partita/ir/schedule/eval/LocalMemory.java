package io.partita.ir.schedule.eval;

import java.util.BitSet;

/**
 * A memory of a device that steps use: its bytes, those that have a value, and those that are
 * protected from writing.
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

  /** Returns the first byte of a range without a value, or -1. */
  int unwritten(int from, int count) {
    int at = written.nextClearBit(from);
    return at < from + count ? at : -1;
  }

  /** Returns the first protected byte of a range, or -1. */
  int held(int from, int count) {
    int at = held.nextSetBit(from);
    return at >= 0 && at < from + count ? at : -1;
  }

  /** Marks bytes as having a value. */
  void write(int from, int count) {
    written.set(from, from + count);
  }

  /** Marks bytes as having no value. */
  void forget(int from, int count) {
    written.clear(from, from + count);
  }

  void forgetAllBut(BitSet kept) {
    written.and(kept);
  }

  /** Protects bytes from writing until they are released. */
  void hold(int from, int count) {
    held.set(from, from + count);
  }

  void release(int from, int count) {
    held.clear(from, from + count);
  }
}
