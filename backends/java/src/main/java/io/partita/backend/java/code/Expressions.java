package io.partita.backend.java.code;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.Optional;

/** Java expressions of element-wise functions on carriers; each uses an operand's text once. */
final class Expressions {
  private final Kernels kernels;

  Expressions(Kernels kernels) {
    this.kernels = kernels;
  }

  private static boolean isLong(ElementType element) {
    return Elements.carrier(element).equals("long");
  }

  /** A double-valued expression as the carrier of {@code element}. */
  private static String fromDouble(ElementType element, String expression) {
    return element == ElementType.F32 ? "(float) " + expression : expression;
  }

  /** A long-valued expression as the carrier of {@code element}. */
  private static String fromLong(ElementType element, String expression) {
    return isLong(element) ? expression : "(int) " + expression;
  }

  private String call(Kernel kernel, String... arguments) {
    return kernels.use(kernel) + "(" + String.join(", ", arguments) + ")";
  }

  /** {@code function} of x; a predicate gives a boolean. */
  String unary(UnaryFunction function, ElementType element, String x) {
    boolean unsigned = element.kind() == ElementType.Kind.UNSIGNED;
    boolean isFloat = element.isFloat();
    return switch (function) {
      case ABS -> unsigned ? x : "Math.abs(" + x + ")";
      case NEG -> "-(" + x + ")";
      case SIGN -> sign(element, x);
      case CEIL -> fromDouble(element, "Math.ceil(" + x + ")");
      case FLOOR -> fromDouble(element, "Math.floor(" + x + ")");
      case ROUND -> fromDouble(element, "Math.rint(" + x + ")");
      case SQRT -> fromDouble(element, "Math.sqrt(" + x + ")");
      case RECIPROCAL -> "1 / (" + x + ")";
      case EXP -> fromDouble(element, "Math.exp(" + x + ")");
      case LOG -> fromDouble(element, "Math.log(" + x + ")");
      case SIN -> fromDouble(element, "Math.sin(" + x + ")");
      case COS -> fromDouble(element, "Math.cos(" + x + ")");
      case TAN -> fromDouble(element, "Math.tan(" + x + ")");
      case ASIN -> fromDouble(element, "Math.asin(" + x + ")");
      case ACOS -> fromDouble(element, "Math.acos(" + x + ")");
      case ATAN -> fromDouble(element, "Math.atan(" + x + ")");
      case SINH -> fromDouble(element, "Math.sinh(" + x + ")");
      case COSH -> fromDouble(element, "Math.cosh(" + x + ")");
      case TANH -> fromDouble(element, "Math.tanh(" + x + ")");
      case ASINH -> fromDouble(element, call(ScalarKernels.ASINH, x));
      case ACOSH -> fromDouble(element, call(ScalarKernels.ACOSH, x));
      case ATANH -> fromDouble(element, call(ScalarKernels.ATANH, x));
      case ERF -> fromDouble(element, call(ScalarKernels.ERF, x));
      case SIGMOID -> fromDouble(element, "(1 / (1 + Math.exp(-(" + x + "))))");
      case RELU -> unsigned ? x : "Math.max(" + x + ", 0)";
      case SOFTPLUS -> fromDouble(element, call(ScalarKernels.SOFTPLUS, x));
      case GELU -> fromDouble(element, call(ScalarKernels.GELU, x));
      case GELU_TANH -> fromDouble(element, call(ScalarKernels.GELU_TANH, x));
      case SILU -> fromDouble(element, call(ScalarKernels.SILU, x));
      case HARD_SWISH -> fromDouble(element, call(ScalarKernels.HARD_SWISH, x));
      case QUICK_GELU -> fromDouble(element, call(ScalarKernels.QUICK_GELU, x));
      case IS_NAN -> (element == ElementType.F32 ? "Float" : "Double") + ".isNaN(" + x + ")";
      case IS_POSITIVE_INFINITY -> x + " == Double.POSITIVE_INFINITY";
      case IS_NEGATIVE_INFINITY -> x + " == Double.NEGATIVE_INFINITY";
      case NOT -> "!(" + x + ")";
      case BIT_NOT -> isFloat ? x : "~(" + x + ")";
    };
  }

  private static String sign(ElementType element, String x) {
    return switch (element.kind()) {
      case FLOAT, BOOLEAN -> "Math.signum(" + x + ")";
      case SIGNED ->
          isLong(element) ? "Math.max(-1, Math.min(1, " + x + "))" : "Integer.signum(" + x + ")";
      case UNSIGNED -> isLong(element) ? "(" + x + " == 0 ? 0L : 1L)" : "(" + x + " == 0 ? 0 : 1)";
    };
  }

  /**
   * {@code function} of two bfloat16 numbers, computed in float if that gives the same bits as
   * double. A float has more than twice the digits of a bfloat16, so that rounding to float first
   * doesn't change the result of these functions.
   */
  Optional<Term> inFloat(BinaryFunction function, ElementType element, Term x, Term y) {
    return switch (function) {
      case ADD, SUB, MUL, DIV ->
          element == ElementType.BF16
              ? Optional.of(
                  new Term(
                      binary(function, element, x.as("float").text(), y.as("float").text()),
                      "float"))
              : Optional.empty();
      default -> Optional.empty();
    };
  }

  /** A shift of an integer by a constant number of bits that is less than its width. */
  Optional<Term> shift(BinaryFunction function, ElementType element, Term x, Tensor count) {
    boolean shifts =
        function == BinaryFunction.SHIFT_LEFT || function == BinaryFunction.SHIFT_RIGHT;
    if (!shifts || count == null || count.getLong(0) < 0 || count.getLong(0) >= element.bits()) {
      return Optional.empty();
    }
    boolean isSigned = element.kind() == ElementType.Kind.SIGNED;
    String sign = function == BinaryFunction.SHIFT_LEFT ? "<<" : isSigned ? ">>" : ">>>";
    return Optional.of(
        new Term(x.text() + " " + sign + " " + count.getLong(0), Elements.carrier(element)));
  }

  /** {@code function} of x and y, both of type {@code element}; a comparison gives a boolean. */
  String binary(BinaryFunction function, ElementType element, String x, String y) {
    if (element == ElementType.BOOL) {
      return logical(function, x, y);
    }
    boolean wide = element == ElementType.U64;
    return switch (function) {
      case ADD -> x + " + " + y;
      case SUB -> x + " - " + y;
      case MUL -> x + " * " + y;
      case DIV, MOD, REMAINDER -> quotient(function, element, x, y);
      case POW -> power(element, element, x, y);
      case MIN -> wide ? call(ScalarKernels.MIN_UNSIGNED, x, y) : "Math.min(" + x + ", " + y + ")";
      case MAX -> wide ? call(ScalarKernels.MAX_UNSIGNED, x, y) : "Math.max(" + x + ", " + y + ")";
      case BIT_AND, AND -> x + " & " + y;
      case BIT_OR, OR -> x + " | " + y;
      case BIT_XOR, XOR -> x + " ^ " + y;
      case SHIFT_LEFT ->
          fromLong(element, call(ScalarKernels.SHIFT_LEFT, x, y, "" + element.bits()));
      case SHIFT_RIGHT -> {
        boolean signed = element.kind() == ElementType.Kind.SIGNED;
        Kernel shift = signed ? ScalarKernels.SHIFT_RIGHT : ScalarKernels.SHIFT_RIGHT_UNSIGNED;
        yield fromLong(element, call(shift, x, y, "" + element.bits()));
      }
      case EQUAL -> x + " == " + y;
      case LESS -> compare(wide, "<", x, y);
      case LESS_OR_EQUAL -> compare(wide, "<=", x, y);
      case GREATER -> compare(wide, ">", x, y);
      case GREATER_OR_EQUAL -> compare(wide, ">=", x, y);
    };
  }

  private static String compare(boolean unsigned, String sign, String x, String y) {
    return unsigned
        ? "Long.compareUnsigned(" + x + ", " + y + ") " + sign + " 0"
        : x + " " + sign + " " + y;
  }

  private static String logical(BinaryFunction function, String x, String y) {
    return switch (function) {
      case AND, MUL, MIN, BIT_AND -> x + " & " + y;
      case OR, ADD, MAX, BIT_OR -> x + " | " + y;
      case XOR, BIT_XOR, SUB -> x + " ^ " + y;
      case EQUAL -> x + " == " + y;
      case LESS -> "!" + x + " & " + y;
      case LESS_OR_EQUAL -> "!" + x + " | " + y;
      case GREATER -> x + " & !" + y;
      case GREATER_OR_EQUAL -> x + " | !" + y;
      case DIV, POW, MOD, REMAINDER, SHIFT_LEFT, SHIFT_RIGHT ->
          throw new IllegalArgumentException(function.text() + " isn't defined on bool");
    };
  }

  private String quotient(BinaryFunction function, ElementType element, String x, String y) {
    if (element.isFloat()) {
      return switch (function) {
        case MOD -> fromDouble(element, call(ScalarKernels.FLOOR_MOD, x, y));
        case REMAINDER -> x + " % " + y;
        default -> x + " / " + y;
      };
    }
    boolean wide = element == ElementType.U64;
    Kernel kernel =
        switch (function) {
          case MOD -> wide ? ScalarKernels.REMAINDER_UNSIGNED : ScalarKernels.MODULO;
          case REMAINDER -> wide ? ScalarKernels.REMAINDER_UNSIGNED : ScalarKernels.REMAINDER;
          default -> wide ? ScalarKernels.DIVIDE_UNSIGNED : ScalarKernels.DIVIDE;
        };
    return fromLong(element, call(kernel, x, y));
  }

  /** A power whose exponent may be of another type. */
  String power(ElementType base, ElementType exponent, String x, String y) {
    if (!base.isFloat() && !exponent.isFloat()) {
      String signed = Boolean.toString(base.kind() == ElementType.Kind.SIGNED);
      return fromLong(base, call(ScalarKernels.INTEGER_POWER, x, y, signed));
    }
    String left = base == ElementType.U64 ? call(ScalarKernels.UNSIGNED_TO_DOUBLE, x) : x;
    String right = exponent == ElementType.U64 ? call(ScalarKernels.UNSIGNED_TO_DOUBLE, y) : y;
    String result = call(ScalarKernels.POWER, left, right);
    return base.isFloat() ? fromDouble(base, result) : fromLong(base, "(long) " + result);
  }

  /** x as another type, before it wraps or rounds to it. */
  Term cast(ElementType from, ElementType to, Term x) {
    String text = x.text();
    if (to == ElementType.BOOL) {
      return from == ElementType.BOOL ? x : new Term(text + " != 0", "boolean");
    }
    if (from == ElementType.BOOL) {
      return new Term("(" + text + " ? 1 : 0)", "int").as(Elements.carrier(to));
    }
    if (from.isFloat()) {
      boolean rounds = from == ElementType.F32 && to == ElementType.BF16;
      return rounds ? x : to.isFloat() ? x.as(Elements.carrier(to)) : floatToInteger(to, x);
    }
    if (to.isFloat() && from.bits() == 64) {
      return wideToFloat(from, to, x);
    }
    boolean keeps = x.isNarrow() && !to.isFloat() && Elements.carrier(to).equals("int");
    return keeps ? x : x.as(Elements.carrier(to));
  }

  private Term floatToInteger(ElementType to, Term x) {
    if (to == ElementType.U64) {
      return new Term(call(ScalarKernels.TO_UNSIGNED, x.text()), "long");
    }
    return x.as("long").as(Elements.carrier(to));
  }

  private Term wideToFloat(ElementType from, ElementType to, Term x) {
    boolean unsigned = from == ElementType.U64;
    if (to == ElementType.F64 && !unsigned) {
      return x.as("double");
    }
    String value =
        to == ElementType.F64
            ? call(ScalarKernels.UNSIGNED_TO_DOUBLE, x.text())
            : call(ScalarKernels.WIDE_TO_DOUBLE, x.text(), Boolean.toString(unsigned));
    return new Term(value, "double").as(Elements.carrier(to));
  }
}
