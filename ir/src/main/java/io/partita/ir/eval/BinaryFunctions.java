package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.tensor.Float16;
import io.partita.ir.type.ElementType;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** The meaning of each {@link BinaryFunction} on two elements; a comparison gives 1 for true. */
public final class BinaryFunctions {
  private BinaryFunctions() {}

  /**
   * Returns the function on floats, in double. Rounding its result to a narrower float type gives
   * the result of that type's arithmetic, because a double has more than twice as many digits.
   */
  public static DoubleBinaryOperator ofDouble(BinaryFunction function) {
    return switch (function) {
      case ADD -> Double::sum;
      case SUB -> (x, y) -> x - y;
      case MUL -> (x, y) -> x * y;
      case DIV -> (x, y) -> x / y;
      case POW -> BinaryFunctions::power;
      case MOD -> BinaryFunctions::floorMod;
      case REMAINDER -> (x, y) -> x % y;
      case MIN -> Math::min;
      case MAX -> Math::max;
      case EQUAL -> (x, y) -> x == y ? 1 : 0;
      case LESS -> (x, y) -> x < y ? 1 : 0;
      case LESS_OR_EQUAL -> (x, y) -> x <= y ? 1 : 0;
      case GREATER -> (x, y) -> x > y ? 1 : 0;
      case GREATER_OR_EQUAL -> (x, y) -> x >= y ? 1 : 0;
      case AND, OR, XOR, BIT_AND, BIT_OR, BIT_XOR, SHIFT_LEFT, SHIFT_RIGHT ->
          throw new IllegalArgumentException(function.text() + " isn't defined on floats");
    };
  }

  /** Computes a power as in C and NumPy: 1 to any power is 1, as is -1 to an infinite power. */
  private static double power(double base, double exponent) {
    return base == 1 || base == -1 && Double.isInfinite(exponent) ? 1 : Math.pow(base, exponent);
  }

  private static double floorMod(double x, double y) {
    double remainder = x % y;
    if (remainder == 0) {
      return Math.copySign(0.0, y);
    }
    return remainder < 0 != y < 0 ? remainder + y : remainder;
  }

  /** Returns the function on integers and booleans, whose result then wraps to the type. */
  public static LongBinaryOperator ofLong(BinaryFunction function, ElementType element) {
    boolean wide = element == ElementType.U64;
    return switch (function) {
      case ADD -> Long::sum;
      case SUB -> (x, y) -> x - y;
      case MUL -> (x, y) -> x * y;
      case DIV ->
          wide ? (x, y) -> y == 0 ? 0 : Long.divideUnsigned(x, y) : (x, y) -> y == 0 ? 0 : x / y;
      case POW -> (x, y) -> power(x, y, element.kind() == ElementType.Kind.SIGNED);
      case MOD ->
          wide
              ? (x, y) -> y == 0 ? 0 : Long.remainderUnsigned(x, y)
              : (x, y) -> y == 0 ? 0 : Math.floorMod(x, y);
      case REMAINDER ->
          wide ? (x, y) -> y == 0 ? 0 : Long.remainderUnsigned(x, y) : (x, y) -> y == 0 ? 0 : x % y;
      case MIN -> wide ? (x, y) -> Long.compareUnsigned(x, y) <= 0 ? x : y : Math::min;
      case MAX -> wide ? (x, y) -> Long.compareUnsigned(x, y) >= 0 ? x : y : Math::max;
      case AND, BIT_AND -> (x, y) -> x & y;
      case OR, BIT_OR -> (x, y) -> x | y;
      case XOR, BIT_XOR -> (x, y) -> x ^ y;
      case SHIFT_LEFT -> (x, y) -> isShift(y, element) ? x << y : 0;
      case SHIFT_RIGHT -> shiftRight(element);
      case EQUAL -> (x, y) -> x == y ? 1 : 0;
      case LESS -> wide ? (x, y) -> unsigned(x, y) < 0 ? 1 : 0 : (x, y) -> x < y ? 1 : 0;
      case LESS_OR_EQUAL -> wide ? (x, y) -> unsigned(x, y) <= 0 ? 1 : 0 : (x, y) -> x <= y ? 1 : 0;
      case GREATER -> wide ? (x, y) -> unsigned(x, y) > 0 ? 1 : 0 : (x, y) -> x > y ? 1 : 0;
      case GREATER_OR_EQUAL ->
          wide ? (x, y) -> unsigned(x, y) >= 0 ? 1 : 0 : (x, y) -> x >= y ? 1 : 0;
    };
  }

  private static int unsigned(long x, long y) {
    return Long.compareUnsigned(x, y);
  }

  private static boolean isShift(long count, ElementType element) {
    return count >= 0 && count < element.bits();
  }

  private static LongBinaryOperator shiftRight(ElementType element) {
    return element.kind() == ElementType.Kind.SIGNED
        ? (x, y) -> isShift(y, element) ? x >> y : x >> 63
        : (x, y) -> isShift(y, element) ? x >>> y : 0;
  }

  /**
   * Computes a power that wraps; a negative exponent gives the reciprocal, rounded towards zero,
   * and 0 for the base 0.
   */
  private static long power(long base, long exponent, boolean signed) {
    if (signed && exponent < 0) {
      return base == 1 || base == -1 ? ((exponent & 1) == 0 ? 1 : base) : 0;
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

  /** Rounds to a float type, half to even. */
  static double round(ElementType element, double value) {
    return switch (element) {
      case F32 -> (float) value;
      case F16 -> Float16.fromHalf(Float16.toHalf(value));
      case BF16 -> Float16.fromBfloat(Float16.toBfloat(value));
      case F64, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> value;
    };
  }
}
