package io.partita.ir.tensor;

/**
 * Elements in bf8_b, {@code bfloat8_b} of Tenstorrent's {@code ttnn}: each 16 in a row share the
 * exponent of the largest one, and each has a sign and 7 bits of its magnitude.
 *
 * <p>A block is stored in {@link #BYTES} bytes: the exponent, biased as that of f32 and 0 for a
 * block of zeros, and a byte for the sign and the magnitude of each element. The last block of a
 * row is whole, with zeros behind the row.
 */
public final class BlockFloat {
  /** The elements of a block. */
  public static final int BLOCK = 16;

  /** The bytes of a block. */
  public static final int BYTES = 1 + BLOCK;

  private static final int MAGNITUDE_BITS = 7;
  private static final int LARGEST = (1 << MAGNITUDE_BITS) - 1;
  private static final int SIGN = 1 << MAGNITUDE_BITS;

  private BlockFloat() {}

  /** Returns the elements of whole blocks that a row of elements takes. */
  public static long rowElements(long elements) {
    return Math.ceilDiv(elements, BLOCK) * BLOCK;
  }

  /** Returns the bytes of a number of elements in a row. */
  public static long bytes(long elements) {
    return Math.ceilDiv(elements, BLOCK) * BYTES;
  }

  /**
   * Rounds to the nearest element, ties to even. An element that would reach the next power of two
   * becomes the largest one of its block instead.
   */
  public static void round(float[] row) {
    for (int start = 0; start < row.length; start += BLOCK) {
      int end = Math.min(row.length, start + BLOCK);
      double step = step(exponent(row, start, end));
      for (int i = start; i < end; i++) {
        double steps = steps(row[i], step);
        // There is one zero.
        row[i] = steps == 0 ? 0 : (float) (steps * step);
      }
    }
  }

  /**
   * Writes the blocks of a row of finite elements, rounded as {@link #round} does.
   *
   * @param at the first byte
   */
  public static void encode(float[] row, byte[] into, int at) {
    int place = at;
    for (int start = 0; start < row.length; start += BLOCK) {
      int end = Math.min(row.length, start + BLOCK);
      int exponent = exponent(row, start, end);
      double step = step(exponent);
      into[place] = (byte) (exponent + Float.MAX_EXPONENT);
      for (int i = start; i < end; i++) {
        int steps = (int) steps(row[i], step);
        into[place + 1 + i - start] = (byte) (steps < 0 ? SIGN | -steps : steps);
      }
      place += BYTES;
    }
  }

  /**
   * Reads a row of blocks.
   *
   * @param at the first byte
   * @param count the elements of the row
   */
  public static void decode(byte[] from, int at, double[] into, int first, int count) {
    for (int i = 0; i < count; i++) {
      int block = at + i / BLOCK * BYTES;
      int exponent = Byte.toUnsignedInt(from[block]) - Float.MAX_EXPONENT;
      int element = from[block + 1 + i % BLOCK];
      int magnitude = element & LARGEST;
      double size = magnitude == 0 ? 0 : magnitude * step(exponent);
      into[first + i] = element < 0 ? -size : size;
    }
  }

  /** The exponent of the largest element; that of subnormal numbers if there is none. */
  private static int exponent(float[] row, int start, int end) {
    int exponent = Float.MIN_EXPONENT - 1;
    for (int i = start; i < end; i++) {
      exponent = Math.max(exponent, Math.getExponent(row[i]));
    }
    return exponent;
  }

  private static double step(int exponent) {
    // Subnormal numbers are 0.
    return exponent < Float.MIN_EXPONENT
        ? Double.MAX_VALUE
        : Math.scalb(1.0, exponent + 1 - MAGNITUDE_BITS);
  }

  private static double steps(float element, double step) {
    return Math.clamp(Math.rint(element / step), -LARGEST, LARGEST);
  }
}
