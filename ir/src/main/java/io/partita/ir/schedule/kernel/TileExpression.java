package io.partita.ir.schedule.kernel;

import java.util.function.UnaryOperator;

/**
 * An integer expression of the tile of a loop: of its position and of the values of {@link
 * Scalar}s.
 */
public sealed interface TileExpression {
  /** The same for all tiles. */
  record Literal(long value) implements TileExpression {}

  /** The beginning of the tile along an axis. */
  record Start(int axis) implements TileExpression {}

  /** The extent of the tile along an axis; the last one may be smaller. */
  record Size(int axis) implements TileExpression {}

  /** 1 in the first tile along an axis, else 0. */
  record First(int axis) implements TileExpression {}

  /** 1 in the last tile that runs along an axis, else 0. */
  record Last(int axis) implements TileExpression {}

  /** Element 0 of a scalar operand, read when the loop begins. */
  record Scalar(int operand) implements TileExpression {}

  record Sum(TileExpression left, TileExpression right) implements TileExpression {}

  record Difference(TileExpression left, TileExpression right) implements TileExpression {}

  record Product(TileExpression left, TileExpression right) implements TileExpression {}

  /** Rounds down; the divisor is above 0. */
  record Quotient(TileExpression left, long divisor) implements TileExpression {}

  record Minimum(TileExpression left, TileExpression right) implements TileExpression {}

  record Maximum(TileExpression left, TileExpression right) implements TileExpression {}

  /** The values of leaves in one tile. */
  interface Tile {
    long start(int axis);

    long size(int axis);

    boolean isFirst(int axis);

    boolean isLast(int axis);

    long scalar(int operand);
  }

  static TileExpression of(long value) {
    return new Literal(value);
  }

  static TileExpression start(int axis) {
    return new Start(axis);
  }

  static TileExpression size(int axis) {
    return new Size(axis);
  }

  static TileExpression first(int axis) {
    return new First(axis);
  }

  static TileExpression last(int axis) {
    return new Last(axis);
  }

  default TileExpression plus(TileExpression other) {
    if (this instanceof Literal(long left) && other instanceof Literal(long right)) {
      return of(Math.addExact(left, right));
    }
    if (other instanceof Literal(long zero) && zero == 0) {
      return this;
    }
    return this instanceof Literal(long zero) && zero == 0 ? other : new Sum(this, other);
  }

  default TileExpression plus(long other) {
    return plus(of(other));
  }

  default TileExpression minus(TileExpression other) {
    if (this instanceof Literal(long left) && other instanceof Literal(long right)) {
      return of(Math.subtractExact(left, right));
    }
    return other instanceof Literal(long zero) && zero == 0 ? this : new Difference(this, other);
  }

  default TileExpression times(TileExpression other) {
    if (this instanceof Literal(long left) && other instanceof Literal(long right)) {
      return of(Math.multiplyExact(left, right));
    }
    if (this.equals(of(0)) || other.equals(of(0))) {
      return of(0);
    }
    if (other.equals(of(1))) {
      return this;
    }
    return this.equals(of(1)) ? other : new Product(this, other);
  }

  default TileExpression times(long other) {
    return times(of(other));
  }

  default TileExpression dividedBy(long divisor) {
    if (this instanceof Literal(long value)) {
      return of(Math.floorDiv(value, divisor));
    }
    return divisor == 1 ? this : new Quotient(this, divisor);
  }

  default TileExpression minimum(TileExpression other) {
    if (this instanceof Literal(long left) && other instanceof Literal(long right)) {
      return of(Math.min(left, right));
    }
    return equals(other) ? this : new Minimum(this, other);
  }

  default TileExpression maximum(TileExpression other) {
    if (this instanceof Literal(long left) && other instanceof Literal(long right)) {
      return of(Math.max(left, right));
    }
    return equals(other) ? this : new Maximum(this, other);
  }

  /** Returns the expression with other leaves, simplified if these are literals. */
  default TileExpression replacing(UnaryOperator<TileExpression> leaf) {
    return switch (this) {
      case Literal literal -> leaf.apply(literal);
      case Start start -> leaf.apply(start);
      case Size size -> leaf.apply(size);
      case First first -> leaf.apply(first);
      case Last last -> leaf.apply(last);
      case Scalar scalar -> leaf.apply(scalar);
      case Sum(var left, var right) -> left.replacing(leaf).plus(right.replacing(leaf));
      case Difference(var left, var right) -> left.replacing(leaf).minus(right.replacing(leaf));
      case Product(var left, var right) -> left.replacing(leaf).times(right.replacing(leaf));
      case Quotient(var left, var divisor) -> left.replacing(leaf).dividedBy(divisor);
      case Minimum(var left, var right) -> left.replacing(leaf).minimum(right.replacing(leaf));
      case Maximum(var left, var right) -> left.replacing(leaf).maximum(right.replacing(leaf));
    };
  }

  /**
   * Returns the value in one tile.
   *
   * @throws ArithmeticException if it doesn't fit 64 bits
   */
  default long at(Tile tile) {
    return switch (this) {
      case Literal(var value) -> value;
      case Start(var axis) -> tile.start(axis);
      case Size(var axis) -> tile.size(axis);
      case First(var axis) -> tile.isFirst(axis) ? 1 : 0;
      case Last(var axis) -> tile.isLast(axis) ? 1 : 0;
      case Scalar(var operand) -> tile.scalar(operand);
      case Sum(var left, var right) -> Math.addExact(left.at(tile), right.at(tile));
      case Difference(var left, var right) -> Math.subtractExact(left.at(tile), right.at(tile));
      case Product(var left, var right) -> Math.multiplyExact(left.at(tile), right.at(tile));
      case Quotient(var left, var divisor) -> Math.floorDiv(left.at(tile), divisor);
      case Minimum(var left, var right) -> Math.min(left.at(tile), right.at(tile));
      case Maximum(var left, var right) -> Math.max(left.at(tile), right.at(tile));
    };
  }

  /** Whether the value may change from one tile along the axis to the next. */
  default boolean dependsOn(int axis) {
    return switch (this) {
      case Literal literal -> false;
      case Scalar scalar -> false;
      case Start(var own) -> own == axis;
      case Size(var own) -> own == axis;
      case First(var own) -> own == axis;
      case Last(var own) -> own == axis;
      case Sum(var left, var right) -> left.dependsOn(axis) || right.dependsOn(axis);
      case Difference(var left, var right) -> left.dependsOn(axis) || right.dependsOn(axis);
      case Product(var left, var right) -> left.dependsOn(axis) || right.dependsOn(axis);
      case Quotient(var left, var divisor) -> left.dependsOn(axis);
      case Minimum(var left, var right) -> left.dependsOn(axis) || right.dependsOn(axis);
      case Maximum(var left, var right) -> left.dependsOn(axis) || right.dependsOn(axis);
    };
  }

  /** Whether the value depends on a {@link Scalar}. */
  default boolean readsScalar() {
    return switch (this) {
      case Literal literal -> false;
      case Scalar scalar -> true;
      case Start start -> false;
      case Size size -> false;
      case First first -> false;
      case Last last -> false;
      case Sum(var left, var right) -> left.readsScalar() || right.readsScalar();
      case Difference(var left, var right) -> left.readsScalar() || right.readsScalar();
      case Product(var left, var right) -> left.readsScalar() || right.readsScalar();
      case Quotient(var left, var divisor) -> left.readsScalar();
      case Minimum(var left, var right) -> left.readsScalar() || right.readsScalar();
      case Maximum(var left, var right) -> left.readsScalar() || right.readsScalar();
    };
  }
}
