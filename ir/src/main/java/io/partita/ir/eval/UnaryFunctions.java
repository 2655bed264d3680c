package io.partita.ir.eval;

import io.partita.ir.op.UnaryFunction;
import io.partita.ir.type.ElementType;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongUnaryOperator;

/** The meaning of each {@link UnaryFunction} on one element. */
public final class UnaryFunctions {
  /** From here on x² + 1 equals x² in double. */
  private static final double HUGE = 0x1p28;

  private static final double LN_2 = Math.log(2);
  private static final double ROOT_HALF = Math.sqrt(0.5);
  private static final double ROOT_TWO_OVER_PI = Math.sqrt(2 / Math.PI);

  private UnaryFunctions() {}

  /** On floats, in double; a predicate gives 1 for true. */
  public static DoubleUnaryOperator ofDouble(UnaryFunction function) {
    return switch (function) {
      case ABS -> Math::abs;
      case NEG -> x -> -x;
      case SIGN -> Math::signum;
      case CEIL -> Math::ceil;
      case FLOOR -> Math::floor;
      case ROUND -> Math::rint;
      case SQRT -> Math::sqrt;
      case RECIPROCAL -> x -> 1 / x;
      case EXP -> Math::exp;
      case LOG -> Math::log;
      case SIN -> Math::sin;
      case COS -> Math::cos;
      case TAN -> Math::tan;
      case ASIN -> Math::asin;
      case ACOS -> Math::acos;
      case ATAN -> Math::atan;
      case SINH -> Math::sinh;
      case COSH -> Math::cosh;
      case TANH -> Math::tanh;
      case ASINH -> UnaryFunctions::asinh;
      case ACOSH -> UnaryFunctions::acosh;
      case ATANH -> x -> Math.copySign(Math.log1p(2 * Math.abs(x) / (1 - Math.abs(x))) / 2, x);
      case ERF -> ErrorFunction::erf;
      case SIGMOID -> x -> 1 / (1 + Math.exp(-x));
      case RELU -> x -> Math.max(x, 0);
      case SOFTPLUS -> x -> Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
      case GELU -> x -> x / 2 * (1 + ErrorFunction.erf(x * ROOT_HALF));
      case GELU_TANH -> x -> x / 2 * (1 + Math.tanh(ROOT_TWO_OVER_PI * (x + 0.044715 * x * x * x)));
      case SILU -> x -> x / (1 + Math.exp(-x));
      case HARD_SWISH -> x -> x * Math.max(Math.min(x / 6 + 0.5, 1), 0);
      case QUICK_GELU -> x -> x / (1 + Math.exp(-1.702 * x));
      case IS_NAN -> x -> Double.isNaN(x) ? 1 : 0;
      case IS_POSITIVE_INFINITY -> x -> x == Double.POSITIVE_INFINITY ? 1 : 0;
      case IS_NEGATIVE_INFINITY -> x -> x == Double.NEGATIVE_INFINITY ? 1 : 0;
      case NOT, BIT_NOT -> throw notOn(function, "floats");
    };
  }

  private static double asinh(double x) {
    double magnitude = Math.abs(x);
    double square = magnitude * magnitude;
    double result =
        magnitude > HUGE
            ? Math.log(magnitude) + LN_2
            : Math.log1p(magnitude + square / (1 + Math.sqrt(square + 1)));
    return Math.copySign(result, x);
  }

  private static double acosh(double x) {
    if (x < 1) {
      return Double.NaN;
    }
    double excess = x - 1;
    return x > HUGE
        ? Math.log(x) + LN_2
        : Math.log1p(excess + Math.sqrt(2 * excess + excess * excess));
  }

  /** On integers and booleans, the result before it wraps to the type. */
  public static LongUnaryOperator ofLong(UnaryFunction function, ElementType element) {
    boolean signed = element.kind() == ElementType.Kind.SIGNED;
    return switch (function) {
      case ABS -> signed ? Math::abs : x -> x;
      case NEG -> x -> -x;
      case SIGN -> signed ? x -> Long.signum(x) : x -> x == 0 ? 0 : 1;
      case RELU -> signed ? x -> Math.max(x, 0) : x -> x;
      case NOT -> x -> x == 0 ? 1 : 0;
      case BIT_NOT -> x -> ~x;
      case CEIL,
          FLOOR,
          ROUND,
          SQRT,
          RECIPROCAL,
          EXP,
          LOG,
          SIN,
          COS,
          TAN,
          ASIN,
          ACOS,
          ATAN,
          SINH,
          COSH,
          TANH,
          ASINH,
          ACOSH,
          ATANH,
          ERF,
          SIGMOID,
          SOFTPLUS,
          GELU,
          GELU_TANH,
          SILU,
          HARD_SWISH,
          QUICK_GELU,
          IS_NAN,
          IS_POSITIVE_INFINITY,
          IS_NEGATIVE_INFINITY ->
          throw notOn(function, "integers");
    };
  }

  private static IllegalArgumentException notOn(UnaryFunction function, String elements) {
    return new IllegalArgumentException(function.text() + " isn't defined on " + elements);
  }
}
