package io.partita.backend.metalium;

/**
 * Elements in bf8_b: each 16 in a row share the exponent of the largest one, and each has a sign
 * and 7 bits of its magnitude.
 */
final class BlockFloat {
  static final int BLOCK = 16;
  private static final int LARGEST = 127;

  private BlockFloat() {}

  /**
   * Rounds to the nearest element, ties to even. An element that would reach the next power of two
   * becomes the largest one of its block instead.
   */
  static void round(float[] row) {
    for (int start = 0; start < row.length; start += BLOCK) {
      int end = Math.min(row.length, start + BLOCK);
      int exponent = Float.MIN_EXPONENT - 1;
      for (int i = start; i < end; i++) {
        exponent = Math.max(exponent, Math.getExponent(row[i]));
      }
      // Subnormal numbers are 0.
      double step =
          exponent < Float.MIN_EXPONENT ? Double.MAX_VALUE : Math.scalb(1.0, exponent - 6);
      for (int i = start; i < end; i++) {
        double steps = Math.clamp(Math.rint(row[i] / step), -LARGEST, LARGEST);
        // There is one zero.
        row[i] = steps == 0 ? 0 : (float) (steps * step);
      }
    }
  }
}
