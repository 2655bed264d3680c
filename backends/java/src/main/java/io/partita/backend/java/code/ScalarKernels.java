package io.partita.backend.java.code;

/** Functions of single elements that {@code java.lang.Math} lacks. */
final class ScalarKernels {
  private ScalarKernels() {}

  static final Kernel FROM_HALF =
      Kernel.of(
          "The value of a 16-bit float.",
          """
          static double fromHalf(short bits) {
            int exponent = bits >> 10 & 0x1f;
            int mantissa = bits & 0x3ff;
            double magnitude;
            if (exponent == 0) {
              magnitude = mantissa * 0x1p-24;
            } else if (exponent == 31) {
              magnitude = mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
            } else {
              magnitude = Float.intBitsToFloat(exponent + 112 << 23 | mantissa << 13);
            }
            return bits < 0 ? -magnitude : magnitude;
          }
          """);

  static final Kernel TO_HALF =
      Kernel.of(
          "The 16-bit float nearest to a value, half to even.",
          """
          static short toHalf(double value) {
            int sign = Double.doubleToRawLongBits(value) < 0 ? 0x8000 : 0;
            double magnitude = Math.abs(value);
            if (magnitude != magnitude) {
              return (short) 0x7e00;
            }
            if (magnitude >= 65520) {
              return (short) (sign | 0x7c00);
            }
            int exponent = Math.max(Math.getExponent(magnitude), -14);
            int mantissa = (int) Math.rint(Math.scalb(magnitude, 10 - exponent));
            return (short) (sign | (exponent + 14 << 10) + mantissa);
          }
          """);

  static final Kernel FROM_BFLOAT =
      Kernel.of(
          "The value of a bfloat16.",
          """
          static double fromBfloat(short bits) {
            return Float.intBitsToFloat(bits << 16);
          }
          """);

  static final Kernel TO_BFLOAT =
      Kernel.of(
          "The bfloat16 nearest to a value, half to even.",
          """
          static short toBfloat(double value) {
            if (value != value) {
              return (short) 0x7fc0;
            }
            float nearest = (float) value;
            int bits = Float.floatToRawIntBits(nearest);
            if (nearest != value && (bits & 1) == 0 && !Float.isInfinite(nearest)) {
              bits += Math.abs(nearest) < Math.abs(value) ? 1 : -1; // to odd: rounds once
            }
            return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
          }
          """);

  /** Overloads {@link #TO_BFLOAT}. */
  static final Kernel TO_BFLOAT_FROM_FLOAT =
      Kernel.of(
          "The bfloat16 nearest to a float, half to even.",
          """
          static short toBfloat(float value) {
            int bits = Float.floatToRawIntBits(value);
            return value != value ? (short) 0x7fc0 : (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
          }
          """);

  private static final Kernel POLYNOMIAL =
      Kernel.of(
          "A polynomial, highest power first.",
          """
          static double polynomial(double x, double... coefficients) {
            double sum = 0;
            for (double coefficient : coefficients) {
              sum = sum * x + coefficient;
            }
            return sum;
          }
          """);

  /** The same as in the reference evaluator, so that results are bit-identical. */
  static final Kernel ERF =
      Kernel.of(
          "The error function, by Cody's rational approximations (Mathematics of Computation 23, 1969).",
          """
          static double erf(double x) {
            double magnitude = Math.abs(x);
            if (magnitude <= 0.46875) {
              double square = x * x;
              double numerator = polynomial(square, 1.85777706184603153e-1, 3.16112374387056560e00, 1.13864154151050156e02, 3.77485237685302021e02, 3.20937758913846947e03);
              double denominator = polynomial(square, 1.0, 2.36012909523441209e01, 2.44024637934444173e02, 1.28261652607737228e03, 2.84423683343917062e03);
              return x * numerator / denominator;
            }
            if (magnitude > 6) {
              return Math.signum(x);
            }
            double coarse = Math.floor(magnitude * 16) / 16;
            double exponential = Math.exp(-coarse * coarse) * Math.exp(-(magnitude - coarse) * (magnitude + coarse));
            double complement;
            if (magnitude <= 4) {
              double numerator = polynomial(magnitude, 2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e00, 6.61191906371416295e01, 2.98635138197400131e02, 8.81952221241769090e02, 1.71204761263407058e03, 2.05107837782607147e03, 1.23033935479799725e03);
              double denominator = polynomial(magnitude, 1.0, 1.57449261107098347e01, 1.17693950891312499e02, 5.37181101862009858e02, 1.62138957456669019e03, 3.29079923573345963e03, 4.36261909014324716e03, 3.43936767414372164e03, 1.23033935480374942e03);
              complement = exponential * numerator / denominator;
            } else {
              double y = 1 / (magnitude * magnitude);
              double numerator = polynomial(y, 1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4);
              double denominator = polynomial(y, 1.0, 2.56852019228982242e00, 1.87295284992346725e00, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3);
              complement = exponential * (0.56418958354775628695 - y * numerator / denominator) / magnitude;
            }
            return Math.signum(x) * (0.5 - complement + 0.5);
          }
          """,
          POLYNOMIAL);

  static final Kernel GELU =
      Kernel.of(
          "x/2 (1 + erf(x/sqrt(2))).",
          """
          static double gelu(double x) {
            return x / 2 * (1 + erf(x * Math.sqrt(0.5)));
          }
          """,
          ERF);

  static final Kernel GELU_TANH =
      Kernel.of(
          "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).",
          """
          static double geluTanh(double x) {
            return x / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
          }
          """);

  static final Kernel SILU =
      Kernel.of(
          "x sigmoid(x).",
          """
          static double silu(double x) {
            return x / (1 + Math.exp(-x));
          }
          """);

  static final Kernel HARD_SWISH =
      Kernel.of(
          "x max(min(x/6 + 1/2, 1), 0).",
          """
          static double hardSwish(double x) {
            return x * Math.max(Math.min(x / 6 + 0.5, 1), 0);
          }
          """);

  static final Kernel QUICK_GELU =
      Kernel.of(
          "x sigmoid(1.702 x).",
          """
          static double quickGelu(double x) {
            return x / (1 + Math.exp(-1.702 * x));
          }
          """);

  static final Kernel SOFTPLUS =
      Kernel.of(
          "ln(1 + e^x).",
          """
          static double softplus(double x) {
            return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
          }
          """);

  static final Kernel ASINH =
      Kernel.of(
          "The inverse of sinh.",
          """
          static double asinh(double x) {
            double magnitude = Math.abs(x);
            double square = magnitude * magnitude;
            double result = magnitude > 0x1p28
                ? Math.log(magnitude) + Math.log(2)
                : Math.log1p(magnitude + square / (1 + Math.sqrt(square + 1)));
            return Math.copySign(result, x);
          }
          """);

  static final Kernel ACOSH =
      Kernel.of(
          "The inverse of cosh.",
          """
          static double acosh(double x) {
            if (x < 1) {
              return Double.NaN;
            }
            double excess = x - 1;
            return x > 0x1p28
                ? Math.log(x) + Math.log(2)
                : Math.log1p(excess + Math.sqrt(2 * excess + excess * excess));
          }
          """);

  static final Kernel ATANH =
      Kernel.of(
          "The inverse of tanh.",
          """
          static double atanh(double x) {
            return Math.copySign(Math.log1p(2 * Math.abs(x) / (1 - Math.abs(x))) / 2, x);
          }
          """);

  static final Kernel POWER =
      Kernel.of(
          "Like Math.pow, but 1 to any power and -1 to an infinite power are 1.",
          """
          static double power(double base, double exponent) {
            return base == 1 || base == -1 && Double.isInfinite(exponent) ? 1 : Math.pow(base, exponent);
          }
          """);

  static final Kernel INTEGER_POWER =
      Kernel.of(
          "A wrapping power; a negative exponent gives the reciprocal, truncated towards zero.",
          """
          static long integerPower(long base, long exponent, boolean signed) {
            if (signed && exponent < 0) {
              return base == 1 || base == -1 ? (exponent & 1) == 0 ? 1 : base : 0;
            }
            long result = 1;
            long square = base;
            for (long rest = exponent; rest != 0; rest >>>= 1) {
              if ((rest & 1) != 0) {
                result *= square;
              }
              square *= square;
            }
            return result;
          }
          """);

  static final Kernel FLOOR_MOD =
      Kernel.of(
          "The remainder with the divisor's sign.",
          """
          static double floorMod(double x, double y) {
            double remainder = x % y;
            if (remainder == 0) {
              return Math.copySign(0.0, y);
            }
            return remainder < 0 != y < 0 ? remainder + y : remainder;
          }
          """);

  static final Kernel DIVIDE =
      Kernel.of(
          "The quotient, truncated towards zero; 0 for division by zero.",
          """
          static long divide(long x, long y) {
            return y == 0 ? 0 : x / y;
          }
          """);

  static final Kernel DIVIDE_UNSIGNED =
      Kernel.of(
          "The quotient of unsigned integers; 0 for division by zero.",
          """
          static long divideUnsigned(long x, long y) {
            return y == 0 ? 0 : Long.divideUnsigned(x, y);
          }
          """);

  static final Kernel MODULO =
      Kernel.of(
          "The remainder with the divisor's sign; 0 for division by zero.",
          """
          static long modulo(long x, long y) {
            return y == 0 ? 0 : Math.floorMod(x, y);
          }
          """);

  static final Kernel REMAINDER =
      Kernel.of(
          "The remainder with the dividend's sign; 0 for division by zero.",
          """
          static long remainder(long x, long y) {
            return y == 0 ? 0 : x % y;
          }
          """);

  static final Kernel REMAINDER_UNSIGNED =
      Kernel.of(
          "The remainder of unsigned integers; 0 for division by zero.",
          """
          static long remainderUnsigned(long x, long y) {
            return y == 0 ? 0 : Long.remainderUnsigned(x, y);
          }
          """);

  static final Kernel SHIFT_LEFT =
      Kernel.of(
          "Shifts out all bits if the count is at least the type's width.",
          """
          static long shiftLeft(long x, long count, int bits) {
            return count >= 0 && count < bits ? x << count : 0;
          }
          """);

  static final Kernel SHIFT_RIGHT =
      Kernel.of(
          "Shifts in copies of the sign.",
          """
          static long shiftRight(long x, long count, int bits) {
            return count >= 0 && count < bits ? x >> count : x >> 63;
          }
          """);

  static final Kernel SHIFT_RIGHT_UNSIGNED =
      Kernel.of(
          "Shifts in zeros.",
          """
          static long shiftRightUnsigned(long x, long count, int bits) {
            return count >= 0 && count < bits ? x >>> count : 0;
          }
          """);

  static final Kernel MIN_UNSIGNED =
      Kernel.of(
          "The smaller unsigned number.",
          """
          static long minUnsigned(long x, long y) {
            return Long.compareUnsigned(x, y) <= 0 ? x : y;
          }
          """);

  static final Kernel MAX_UNSIGNED =
      Kernel.of(
          "The larger unsigned number.",
          """
          static long maxUnsigned(long x, long y) {
            return Long.compareUnsigned(x, y) >= 0 ? x : y;
          }
          """);

  static final Kernel UNSIGNED_TO_DOUBLE =
      Kernel.of(
          "The value of an unsigned number.",
          """
          static double unsignedToDouble(long bits) {
            return bits >= 0 ? bits : (double) (bits >>> 1 | bits & 1) * 2.0;
          }
          """);

  static final Kernel TO_UNSIGNED =
      Kernel.of(
          "Truncates towards zero to an unsigned integer.",
          """
          static long toUnsigned(double value) {
            return value >= 0x1p63 ? (long) (value - 0x1p63) ^ Long.MIN_VALUE : (long) value;
          }
          """);

  static final Kernel WIDE_TO_DOUBLE =
      Kernel.of(
          "A double that rounds to a narrower float in the same way as the exact integer.",
          """
          static double wideToDouble(long value, boolean unsigned) {
            if (Math.abs(value) >>> 53 == 0 && (value >= 0 || !unsigned)) {
              return value;
            }
            long upper = unsigned ? value >>> 11 : value >> 11;
            return (upper | ((value & 0x7ff) != 0 ? 1 : 0)) * 0x1p11;
          }
          """);

  static final Kernel POSITION =
      Kernel.of(
          "An index from data; negative ones count from the end.",
          """
          static int position(long index, int extent) {
            long place = index < 0 ? index + extent : index;
            if (place < 0 || place >= extent) {
              throw new IndexOutOfBoundsException("index " + index + " on an axis of " + extent);
            }
            return (int) place;
          }
          """);

  static final Kernel SORT_KEY =
      Kernel.of(
          "A sort key for floats: NaN last, both zeros equal.",
          """
          static long sortKey(double value) {
            long bits = Double.doubleToLongBits(value + 0.0);
            return bits ^ bits >> 63 & Long.MAX_VALUE;
          }
          """);
}
