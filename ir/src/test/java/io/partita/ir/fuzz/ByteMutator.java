package io.partita.ir.fuzz;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Damages a file without knowing what is in it. */
public final class ByteMutator {
  private final RandomGenerator random;

  public ByteMutator(RandomGenerator random) {
    this.random = random;
  }

  public byte[] mutate(byte[] file) {
    byte[] bytes = file.clone();
    for (int left = 1 + random.nextInt(4); left > 0 && bytes.length > 1; left--) {
      bytes = once(bytes);
    }
    return bytes;
  }

  private byte[] once(byte[] bytes) {
    int at = random.nextInt(bytes.length);
    int length = Math.min(bytes.length - at, 1 + random.nextInt(64));
    switch (random.nextInt(6)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt();
      case 2 -> {
        return Arrays.copyOf(bytes, at);
      }
      case 3 -> {
        int to = random.nextInt(bytes.length - length + 1);
        byte[] block = Arrays.copyOfRange(bytes, at, at + length);
        System.arraycopy(bytes, to, bytes, at, length);
        System.arraycopy(block, 0, bytes, to, length);
      }
      case 4 -> {
        return spliced(bytes, at, at + length, new byte[0]);
      }
      default -> {
        return spliced(bytes, at, at, Arrays.copyOfRange(bytes, at, at + length));
      }
    }
    return bytes;
  }

  private static byte[] spliced(byte[] bytes, int from, int to, byte[] with) {
    byte[] result = Arrays.copyOf(bytes, bytes.length - (to - from) + with.length);
    System.arraycopy(with, 0, result, from, with.length);
    System.arraycopy(bytes, to, result, from + with.length, bytes.length - to);
    return result;
  }
}
