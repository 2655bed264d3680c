package io.partita.ir.function;

/** Functions of doubles that {@code Math} lacks. */
final class DoubleFunctions {
  /** The least x for which x² + 1 rounds to x². */
  private static final double HUGE = 0x1p28;

  private static final double LN_2 = Math.log(2);
  private static final double ROOT_HALF = Math.sqrt(0.5);
  private static final double ROOT_TWO_OVER_PI = Math.sqrt(2 / Math.PI);

  private DoubleFunctions() {}

  static double asinh(double x) {
    double magnitude = Math.abs(x);
    double square = magnitude * magnitude;
    double result =
        magnitude > HUGE
            ? Math.log(magnitude) + LN_2
            : Math.log1p(magnitude + square / (1 + Math.sqrt(square + 1)));
    return Math.copySign(result, x);
  }

  static double acosh(double x) {
    if (x < 1) {
      return Double.NaN;
    }
    double excess = x - 1;
    return x > HUGE
        ? Math.log(x) + LN_2
        : Math.log1p(excess + Math.sqrt(2 * excess + excess * excess));
  }

  static double atanh(double x) {
    return Math.copySign(Math.log1p(2 * Math.abs(x) / (1 - Math.abs(x))) / 2, x);
  }

  static double gelu(double x) {
    return x / 2 * (1 + ErrorFunction.erf(x * ROOT_HALF));
  }

  static double geluTanh(double x) {
    return x / 2 * (1 + Math.tanh(ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x)));
  }
}
