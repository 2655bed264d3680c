package io.partita.ir.op;

/**
 * The arithmetic of an {@link Structured.Attention} of integers, which is exact, so that results
 * don't depend on how keys are divided:
 *
 * <pre>
 * s = q kᵀ + mask / scale                     in i32
 * w = 255 · 2^(-(max s - s) scale log2 e)     from 0 to 255, as {@link #weight} rounds it
 * out = f32(w v) · (valueScale / f32(Σ w))    w v and Σ w in i32, valueScale in f32
 * </pre>
 *
 * <p>Hidden keys have a weight of 0, and a query without visible keys gives zeros. An additive mask
 * is rounded to multiples of the scale. A weight differs by less than 0.57 from the exact one: 0.5
 * for rounding, 0.02 for the power, and 255 ln 2 / 4096 for the exponent.
 */
public final class IntegerAttention {
  /** The weight of the largest score. */
  public static final int LARGEST_WEIGHT = 255;

  /** The most keys whose weighted values have a sum in i32. */
  public static final long MOST_KEYS = Integer.MAX_VALUE / (LARGEST_WEIGHT * 128L);

  /** The most features whose products have a sum that f32 holds exactly. */
  public static final long MOST_FEATURES = (1 << 24) / (128 * 128);

  /** The largest magnitude of an additive mask, in units of scores. */
  public static final int LARGEST_MASK = 1 << 28;

  /** The bits of the fraction of an exponent. */
  public static final int FRACTION = 12;

  /** The bits after the point of the power of a fraction. */
  public static final int POWER = 10;

  private static final int ONE = LARGEST_WEIGHT << POWER;

  /** Minus the coefficient of the fraction in its power, of which 1 is 255 &lt;&lt; POWER. */
  public static final int LINEAR = 180_612;

  /** The coefficient of its square. */
  public static final int QUADRATIC = 60_395;

  /** Minus the coefficient of its cube; with it, the power of 1 is exactly a half. */
  public static final int CUBIC = 10_343;

  private IntegerAttention() {}

  /** Returns what {@link #weight} multiplies a difference of scores by. */
  public static float unit(double scale) {
    return (float) (scale / Math.log(2) * (1 << FRACTION));
  }

  /** Returns what {@link #addend} multiplies an additive mask by. */
  public static float inverse(double scale) {
    return (float) (1 / scale);
  }

  /**
   * Returns the weight of a score.
   *
   * @param below how far it is below the largest score
   * @param unit {@link #unit} of the attention's scale
   */
  public static int weight(int below, float unit) {
    float exponent = below * unit;
    if (exponent >= 1 << 16) {
      return 0;
    }
    int whole = (int) exponent >> FRACTION;
    int x = (int) exponent & ((1 << FRACTION) - 1);
    int power = QUADRATIC - ((x * CUBIC) >> FRACTION);
    power = LINEAR - ((x * power) >> FRACTION);
    power = ONE - ((x * power) >> FRACTION);
    return (power + ((1 << (POWER - 1)) << whole)) >> (POWER + whole);
  }

  /**
   * Returns what an additive mask adds to a score; the lowest number for negative infinity.
   *
   * @param inverseScale {@link #inverse} of the attention's scale
   */
  public static int addend(float mask, float inverseScale) {
    return (int) Math.clamp(Math.rint(mask * inverseScale), -LARGEST_MASK, LARGEST_MASK);
  }
}
