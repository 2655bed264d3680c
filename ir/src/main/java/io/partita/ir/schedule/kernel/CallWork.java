package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import java.util.List;

/**
 * The fields of a call as expressions, to count its work. Fields that depend on a value of the run
 * have their largest value.
 */
public final class CallWork {
  private static final TileExpression ONE = TileExpression.of(1);
  private static final TileExpression UNBOUNDED = TileExpression.of(Integer.MAX_VALUE);

  private final List<Argument> arguments;

  CallWork(List<Argument> arguments) {
    this.arguments = arguments;
  }

  /** Returns an integer; 0 if the call omits it. */
  TileExpression get(String field) {
    return switch (CallFields.find(arguments, field).orElse(null)) {
      case null -> TileExpression.of(0);
      case Value.Integer(var expression) -> atMost(expression);
      case Value other -> throw new IllegalArgumentException(field + " isn't an integer");
    };
  }

  /** Whether a pointer isn't null. */
  boolean has(String pointer) {
    return CallFields.find(arguments, pointer)
        .filter(value -> !(value instanceof Value.Null))
        .isPresent();
  }

  /** Returns the product of integers. */
  TileExpression product(String... fields) {
    TileExpression product = ONE;
    for (String field : fields) {
      product = product.times(get(field));
    }
    return product;
  }

  /** Returns an integer that doesn't depend on the tile. */
  long constant(String field) {
    return get(field) instanceof TileExpression.Literal(long value) ? value : 1;
  }

  /** Returns the elements of an array; empty if the call omits it. */
  private List<TileExpression> all(String field) {
    return switch (CallFields.find(arguments, field).orElse(null)) {
      case null -> List.of();
      case Value.Integers(var expressions) -> expressions.stream().map(CallWork::atMost).toList();
      case Value other -> throw new IllegalArgumentException(field + " isn't an array");
    };
  }

  private static TileExpression atMost(TileExpression expression) {
    return expression.readsScalar()
        ? expression.replacing(leaf -> leaf instanceof TileExpression.Scalar ? UNBOUNDED : leaf)
        : expression;
  }

  static TileExpression product(List<TileExpression> factors) {
    return factors.stream().reduce(ONE, TileExpression::times);
  }

  /** Returns the product of the elements of an array. */
  TileExpression extent(String field) {
    return product(all(field));
  }

  /** Returns the work of {@code passes} over lines. */
  static List<TileExpression> lines(TileExpression count, TileExpression size, long passes) {
    return lines(count, size, TileExpression.of(passes));
  }

  static List<TileExpression> lines(
      TileExpression count, TileExpression size, TileExpression passes) {
    return List.of(ONE, count, size, passes);
  }

  /** Returns the work of one pass over elements. */
  static List<TileExpression> elements(TileExpression count) {
    return lines(ONE, count, 1);
  }

  /** Returns the work of one pass over an array of extents, line by line. */
  List<TileExpression> walk(String extents) {
    List<TileExpression> all = all(extents);
    return all.isEmpty()
        ? elements(ONE)
        : lines(product(all.subList(0, all.size() - 1)), all.getLast(), 1);
  }
}
