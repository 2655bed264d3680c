package io.partita.frontend.onnx.quantize;

/** A code of real numbers in 8 bits: {@code x ≈ (q - zeroPoint) scale}, q from -128 to 127. */
public record Affine(float scale, int zeroPoint) {
  private static final int LEAST = -128;
  private static final int MOST = 127;

  /** The code of probabilities. */
  static final Affine PROBABILITIES = of(0, 1);

  /** The code of a range, which is extended to contain 0 so that 0 is exact. */
  public static Affine of(double low, double high) {
    double least = Math.min(low, 0);
    double most = Math.max(high, 0);
    float scale = (float) ((most - least) / (MOST - LEAST));
    int zeroPoint = Math.clamp(Math.round(LEAST - least / scale), LEAST, MOST);
    return new Affine(scale, zeroPoint);
  }

  /** The code without a zero point that has the numbers of this one. */
  public Affine centred() {
    double bound = scale * (double) Math.max(zeroPoint - LEAST, MOST - zeroPoint);
    return new Affine((float) (bound / MOST), 0);
  }

  /** Returns the nearest number that the code has. */
  public double rounded(double value) {
    return (integer(value) - zeroPoint) * (double) scale;
  }

  /** Returns the integer of the nearest number that the code has. */
  public long integer(double value) {
    return Math.clamp((long) Math.rint(value / scale) + zeroPoint, (long) LEAST, (long) MOST);
  }

  /** Returns the nearest numbers that the code has. */
  public float[] rounded(float[] values) {
    float[] rounded = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      rounded[i] = (float) rounded(values[i]);
    }
    return rounded;
  }
}
