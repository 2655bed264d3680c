package io.partita.backend.siracusa.code;

import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.schedule.kernel.TileExpression.Difference;
import io.partita.ir.schedule.kernel.TileExpression.First;
import io.partita.ir.schedule.kernel.TileExpression.Last;
import io.partita.ir.schedule.kernel.TileExpression.Literal;
import io.partita.ir.schedule.kernel.TileExpression.Maximum;
import io.partita.ir.schedule.kernel.TileExpression.Minimum;
import io.partita.ir.schedule.kernel.TileExpression.Product;
import io.partita.ir.schedule.kernel.TileExpression.Quotient;
import io.partita.ir.schedule.kernel.TileExpression.Scalar;
import io.partita.ir.schedule.kernel.TileExpression.Size;
import io.partita.ir.schedule.kernel.TileExpression.Start;
import io.partita.ir.schedule.kernel.TileExpression.Sum;

/**
 * The C expressions of one loop over tiles. An axis of one tile needs no variable, and sizes that
 * are equal in all tiles are literals.
 */
final class Expressions {
  private final TiledKernel kernel;

  Expressions(TiledKernel kernel) {
    this.kernel = kernel;
  }

  /** Whether there is a loop over the axis. */
  boolean isLoop(int axis) {
    return kernel.axes().get(axis).count() > 1;
  }

  /** Whether the last tile is smaller than the others. */
  boolean hasRemainder(int axis) {
    TileAxis whole = kernel.axes().get(axis);
    return isLoop(axis) && whole.extent() % whole.tile() != 0;
  }

  String variable(int axis) {
    return kernel.axes().get(axis).name();
  }

  String sizeVariable(int axis) {
    return variable(axis) + "_size";
  }

  /** {@code partita_smaller(32, 100 - m)}. */
  String sizeInitialiser(int axis) {
    TileAxis whole = kernel.axes().get(axis);
    return "partita_smaller(%s, %s - %s)".formatted(whole.tile(), whole.extent(), whole.name());
  }

  /** The end of the loop over the axis: a literal, or the variable of a limit. */
  String end(int axis) {
    TileAxis whole = kernel.axes().get(axis);
    return whole.limit().isPresent() ? whole.name() + "_end" : Long.toString(whole.extent());
  }

  /** The value of the variable of a limit; the first tile always runs. */
  String endInitialiser(int axis) {
    TileAxis whole = kernel.axes().get(axis);
    TileExpression limit = whole.limit().orElseThrow();
    return print(limit.minimum(TileExpression.of(whole.extent())).maximum(TileExpression.of(1)));
  }

  String scalar(int operand) {
    return kernel.operands().get(operand).name() + "_value";
  }

  String print(TileExpression expression) {
    return print(simplified(expression), 0);
  }

  /** Folds the parts of an expression that are constant. */
  TileExpression simplified(TileExpression expression) {
    return switch (expression) {
      case Literal literal -> literal;
      case Scalar scalar -> scalar;
      case Start(var axis) -> isLoop(axis) ? expression : TileExpression.of(0);
      case First(var axis) -> isLoop(axis) ? expression : TileExpression.of(1);
      case Last(var axis) -> isLoop(axis) ? expression : TileExpression.of(1);
      case Size(var axis) ->
          hasRemainder(axis) ? expression : TileExpression.of(kernel.axes().get(axis).tile());
      case Sum(var left, var right) -> simplified(left).plus(simplified(right));
      case Difference(var left, var right) -> simplified(left).minus(simplified(right));
      case Product(var left, var right) -> simplified(left).times(simplified(right));
      case Quotient(var left, var divisor) ->
          simplified(left) instanceof Literal(long value)
              ? TileExpression.of(Math.floorDiv(value, divisor))
              : simplified(left).dividedBy(divisor);
      case Minimum(var left, var right) -> smaller(simplified(left), simplified(right));
      case Maximum(var left, var right) -> larger(simplified(left), simplified(right));
    };
  }

  private static TileExpression smaller(TileExpression left, TileExpression right) {
    return left instanceof Literal(long one) && right instanceof Literal(long other)
        ? TileExpression.of(Math.min(one, other))
        : left.minimum(right);
  }

  private static TileExpression larger(TileExpression left, TileExpression right) {
    return left instanceof Literal(long one) && right instanceof Literal(long other)
        ? TileExpression.of(Math.max(one, other))
        : left.maximum(right);
  }

  private String print(TileExpression expression, int binding) {
    return switch (expression) {
      case Literal(var value) -> literal(value);
      case Start(var axis) -> variable(axis);
      case Size(var axis) -> sizeVariable(axis);
      case First(var axis) -> "(" + variable(axis) + " == 0)";
      case Last(var axis) -> isLast(axis);
      case Scalar(var operand) -> scalar(operand);
      case Sum(var left, var right) -> binary(left, " + ", right, 1, binding);
      case Difference(var left, var right) -> binary(left, " - ", right, 1, binding);
      case Product(var left, var right) -> binary(left, " * ", right, 2, binding);
      case Quotient(var left, var divisor) ->
          "partita_quotient(" + print(left, 0) + ", " + divisor + ")";
      case Minimum(var left, var right) ->
          "partita_smaller(" + print(left, 0) + ", " + print(right, 0) + ")";
      case Maximum(var left, var right) ->
          "partita_larger(" + print(left, 0) + ", " + print(right, 0) + ")";
    };
  }

  private String isLast(int axis) {
    return "(%s + %s >= %s)".formatted(variable(axis), kernel.axes().get(axis).tile(), end(axis));
  }

  private String binary(
      TileExpression left, String sign, TileExpression right, int own, int binding) {
    String text = print(left, own) + sign + print(right, own + 1);
    return own < binding ? "(" + text + ")" : text;
  }

  /** Integers that don't fit {@code int32_t} get a suffix; C has no negative literals. */
  static String literal(long value) {
    if (value == Integer.MIN_VALUE) {
      return "INT32_MIN";
    }
    if (value == Long.MIN_VALUE) {
      return "INT64_MIN";
    }
    boolean fits = value == (int) value;
    String text = fits ? Long.toString(value) : "INT64_C(" + Math.abs(value) + ")";
    return value < 0 ? (fits ? "(" + text + ")" : "(-" + text + ")") : text;
  }

  /** Returns a literal with exactly the same bits. */
  static String literal(float value) {
    if (Float.isNaN(value)) {
      return "__builtin_nanf(\"\")";
    }
    if (Float.isInfinite(value)) {
      return value > 0 ? "__builtin_inff()" : "-__builtin_inff()";
    }
    return Float.toHexString(value) + "f";
  }
}
