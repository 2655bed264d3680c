package io.partita.backend.siracusa.code;

import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.Argument.Value;
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
import java.util.function.Predicate;

/** The variables that expressions and arguments use, since C compilers warn about unused ones. */
final class Uses {
  private Uses() {}

  static boolean size(TileExpression expression, int axis) {
    return any(expression, leaf -> leaf.equals(new Size(axis)));
  }

  static boolean scalar(TileExpression expression, int operand) {
    return any(expression, leaf -> leaf.equals(new Scalar(operand)));
  }

  private static boolean any(TileExpression expression, Predicate<TileExpression> test) {
    return switch (expression) {
      case Literal leaf -> test.test(leaf);
      case Start leaf -> test.test(leaf);
      case Size leaf -> test.test(leaf);
      case First leaf -> test.test(leaf);
      case Last leaf -> test.test(leaf);
      case Scalar leaf -> test.test(leaf);
      case Sum(var left, var right) -> any(left, test) || any(right, test);
      case Difference(var left, var right) -> any(left, test) || any(right, test);
      case Product(var left, var right) -> any(left, test) || any(right, test);
      case Quotient(var left, var divisor) -> any(left, test);
      case Minimum(var left, var right) -> any(left, test) || any(right, test);
      case Maximum(var left, var right) -> any(left, test) || any(right, test);
    };
  }

  /** Whether a kernel of the loop takes a pointer to the operand's tile. */
  static boolean pointer(TiledKernel kernel, int operand) {
    return kernel.calls().stream()
        .flatMap(call -> call.arguments().stream())
        .flatMap(Argument::pointers)
        .anyMatch(pointer -> pointer instanceof Value.OperandPointer(int own, _) && own == operand);
  }

  /** Whether an argument uses the tile's size along an axis. */
  static boolean size(Argument argument, int axis) {
    return switch (argument.value()) {
      case Value.OperandPointer(var own, var offset) -> size(offset, axis);
      case Value.ScratchPointer(var own, var offset) -> size(offset, axis);
      case Value.PointerWhen(var condition, var inner) ->
          size(condition, axis) || size(new Argument(argument.field(), inner), axis);
      case Value.Integer(var value) -> size(value, axis);
      case Value.Integers(var values) -> values.stream().anyMatch(value -> size(value, axis));
      case Value.Struct(var arguments) -> arguments.stream().anyMatch(inner -> size(inner, axis));
      case Value.Null none -> false;
      case Value.Float number -> false;
    };
  }
}
