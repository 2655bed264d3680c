package io.partita.ir.text;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * XXH64 with seed 0 (xxHash specification 0.1.1, "XXH64 algorithm description"): fast enough that
 * hashing weights costs about as much as reading them.
 */
final class ContentHash {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final long PRIME1 = 0x9E3779B185EBCA87L;
  private static final long PRIME2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME3 = 0x165667B19E3779F9L;
  private static final long PRIME4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME5 = 0x27D4EB2F165667C5L;

  private ContentHash() {}

  @SuppressWarnings("ConstantOverflow") // as xxHash64 is defined
  static long of(MemorySegment data) {
    long size = data.byteSize();
    long at = 0;
    long hash = PRIME5;
    if (size >= 32) {
      long a = PRIME1 + PRIME2;
      long b = PRIME2;
      long c = 0;
      long d = -PRIME1;
      for (; at + 32 <= size; at += 32) {
        a = round(a, data.get(LONG, at));
        b = round(b, data.get(LONG, at + 8));
        c = round(c, data.get(LONG, at + 16));
        d = round(d, data.get(LONG, at + 24));
      }
      hash =
          Long.rotateLeft(a, 1)
              + Long.rotateLeft(b, 7)
              + Long.rotateLeft(c, 12)
              + Long.rotateLeft(d, 18);
      hash = merge(merge(merge(merge(hash, a), b), c), d);
    }
    return avalanche(tail(data, at, hash + size));
  }

  /** Hashes the last bytes, fewer than 32. */
  private static long tail(MemorySegment data, long from, long begun) {
    long hash = begun;
    long at = from;
    long size = data.byteSize();
    for (; at + 8 <= size; at += 8) {
      hash = Long.rotateLeft(hash ^ round(0, data.get(LONG, at)), 27) * PRIME1 + PRIME4;
    }
    if (at + 4 <= size) {
      hash ^= Integer.toUnsignedLong(data.get(INT, at)) * PRIME1;
      hash = Long.rotateLeft(hash, 23) * PRIME2 + PRIME3;
      at += 4;
    }
    for (; at < size; at++) {
      hash ^= Byte.toUnsignedLong(data.get(ValueLayout.JAVA_BYTE, at)) * PRIME5;
      hash = Long.rotateLeft(hash, 11) * PRIME1;
    }
    return hash;
  }

  private static long round(long lane, long word) {
    return Long.rotateLeft(lane + word * PRIME2, 31) * PRIME1;
  }

  private static long merge(long hash, long lane) {
    return (hash ^ round(0, lane)) * PRIME1 + PRIME4;
  }

  private static long avalanche(long begun) {
    long hash = begun;
    hash = (hash ^ hash >>> 33) * PRIME2;
    hash = (hash ^ hash >>> 29) * PRIME3;
    return hash ^ hash >>> 32;
  }
}
