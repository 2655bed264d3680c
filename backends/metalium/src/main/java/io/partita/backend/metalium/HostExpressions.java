package io.partita.backend.metalium;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Functions of elements, as expressions that mean the same in both languages of the host. */
final class HostExpressions {
  /** Integers up to this one are written without a fraction. */
  private static final long LARGEST = 1 << 24;

  private static final Set<UnaryFunction> UNARY =
      Set.of(
          UnaryFunction.ABS,
          UnaryFunction.CEIL,
          UnaryFunction.COS,
          UnaryFunction.EXP,
          UnaryFunction.FLOOR,
          UnaryFunction.NEG,
          UnaryFunction.NOT,
          UnaryFunction.SIN,
          UnaryFunction.SQRT);

  private static final Map<BinaryFunction, String> OPERATORS =
      Map.of(
          BinaryFunction.ADD, "+",
          BinaryFunction.SUB, "-",
          BinaryFunction.MUL, "*",
          BinaryFunction.EQUAL, "==",
          BinaryFunction.LESS, "<",
          BinaryFunction.LESS_OR_EQUAL, "<=",
          BinaryFunction.GREATER, ">",
          BinaryFunction.GREATER_OR_EQUAL, ">=");

  /** Functions of the host's programs, which have the same names in all languages. */
  private static final Map<BinaryFunction, String> FUNCTIONS =
      Map.of(
          BinaryFunction.AND, "least",
          BinaryFunction.OR, "largest",
          BinaryFunction.MIN, "least",
          BinaryFunction.MAX, "largest",
          BinaryFunction.DIV, "quotient");

  private HostExpressions() {}

  /** Whether the host computes a function of elements. */
  static boolean has(Elementwise op) {
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) -> UNARY.contains(function);
      case Elementwise.Binary(BinaryFunction function) ->
          OPERATORS.containsKey(function) || FUNCTIONS.containsKey(function);
      case Elementwise.Select select -> true;
      case Elementwise.Cast cast -> true;
    };
  }

  /**
   * The expression of an element.
   *
   * @param operand the type of the first operand
   * @param type the type of the result
   * @param x the elements of the operands
   */
  static String of(Elementwise op, TensorType operand, ElementType type, List<String> x) {
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) ->
          switch (function) {
            case NEG -> "-" + x.get(0);
            case NOT -> "1 - " + x.get(0);
            case ABS -> "largest(" + x.get(0) + ", -" + x.get(0) + ")";
            case CEIL, FLOOR -> function.name().toLowerCase(Locale.ROOT) + "(" + x.get(0) + ")";
            default ->
                rounded(type, function.name().toLowerCase(Locale.ROOT) + "(" + x.get(0) + ")");
          };
      case Elementwise.Binary(BinaryFunction function) -> {
        if (function == BinaryFunction.DIV) {
          String quotient = "quotient(" + x.get(0) + ", " + x.get(1) + ")";
          yield type.isFloat() ? rounded(type, quotient) : "trunc(" + quotient + ")";
        }
        if (FUNCTIONS.containsKey(function)) {
          yield FUNCTIONS.get(function) + "(" + x.get(0) + ", " + x.get(1) + ")";
        }
        yield rounded(type, x.get(0) + " " + OPERATORS.get(function) + " " + x.get(1));
      }
      case Elementwise.Select select -> "choose(" + String.join(", ", x) + ")";
      case Elementwise.Cast(ElementType to) -> {
        if (to == ElementType.BOOL) {
          yield x.get(0) + " != 0";
        }
        yield to.isFloat()
            ? rounded(to, x.get(0))
            : operand.element().isFloat() ? "trunc(" + x.get(0) + ")" : x.get(0);
      }
    };
  }

  /** Rounds like the type; integers and numbers of 64 bits are those of the host. */
  static String rounded(ElementType type, String x) {
    return switch (type) {
      case F32 -> "f32(" + x + ")";
      case BF16 -> "bf16(" + x + ")";
      default -> x;
    };
  }

  /** A number, which may be infinite. */
  static String literal(double x) {
    if (Double.isInfinite(x)) {
      return x > 0 ? "inf" : "-inf";
    }
    return x == Math.rint(x) && Math.abs(x) < LARGEST
        ? Long.toString((long) x)
        : Double.toString(x);
  }
}
