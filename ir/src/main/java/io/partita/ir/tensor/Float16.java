package io.partita.ir.tensor;

/** Conversions between {@code double} and the two 16-bit float formats, rounding half to even. */
public final class Float16 {
  private Float16() {}

  public static float fromHalf(short bits) {
    return Float.float16ToFloat(bits);
  }

  /**
   * Rounds once, without double rounding through {@code float}: the double is first rounded to odd
   * at float precision.
   */
  public static short toHalf(double value) {
    return Float.floatToFloat16(roundToOdd(value));
  }

  public static float fromBfloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  public static short toBfloat(double value) {
    if (Double.isNaN(value)) {
      return (short) 0x7fc0;
    }
    int bits = Float.floatToRawIntBits(roundToOdd(value));
    int rounded = bits + 0x7fff + ((bits >>> 16) & 1);
    return (short) (rounded >>> 16);
  }

  private static float roundToOdd(double value) {
    float nearest = (float) value;
    if (nearest == value || Float.isNaN(nearest)) {
      return nearest;
    }
    if (Float.isInfinite(nearest)) {
      return nearest;
    }
    int bits = Float.floatToRawIntBits(nearest);
    if ((bits & 1) != 0) {
      return nearest;
    }
    boolean towardsZero = Math.abs((double) nearest) < Math.abs(value);
    return Float.intBitsToFloat(towardsZero ? bits + 1 : bits - 1);
  }
}
