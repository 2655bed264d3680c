package io.partita.ir.op;

import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** The conditions that the type rules of operations share. */
final class Require {
  private Require() {}

  /** That there can be a tensor of this type, so that its elements and bytes can be counted. */
  static void possible(TensorType type) {
    if (!type.isPossible()) {
      boolean negative = type.shape().dims().stream().anyMatch(d -> d.isStatic() && d.value() < 0);
      throw new TypeMismatch(
          negative
              ? "a result with extents of 0 or more"
              : type.rank() > TensorType.MOST_DIMENSIONS
                  ? "a result of at most " + TensorType.MOST_DIMENSIONS + " dimensions"
                  : "a result of fewer than 2^60 elements",
          type.toString());
    }
  }

  static void that(boolean condition, Object expected, Object found) {
    if (!condition) {
      throw new TypeMismatch(String.valueOf(expected), String.valueOf(found));
    }
  }

  static void count(List<TensorType> operands, int expected) {
    // The text is made for mistakes only: every operation of every graph comes by here.
    if (operands.size() != expected) {
      throw new TypeMismatch(expected + " operands", Integer.toString(operands.size()));
    }
  }

  static void element(TensorType type, ElementType element, String what) {
    that(type.element() == element, what + " of element type " + element, type);
  }

  static void sameElement(TensorType left, TensorType right) {
    that(
        left.element() == right.element(),
        "operands of one element type",
        left.element() + " and " + right.element());
  }

  static void rank(TensorType type, int rank, String what) {
    that(type.rank() == rank, what + " of rank " + rank, type);
  }

  static void atLeastRank(TensorType type, int rank, String what) {
    that(type.rank() >= rank, what + " of rank " + rank + " or more", type);
  }

  static void axis(int axis, int rank) {
    that(axis >= 0 && axis < rank, "an axis from 0 to " + (rank - 1), axis);
  }

  static Shape broadcast(Shape left, Shape right) {
    Shape shape = Shape.broadcast(left, right);
    that(shape != null, "shapes that broadcast", left + " and " + right);
    return shape;
  }

  /** That {@code from} broadcasts to exactly {@code to}. */
  static void broadcastsTo(Shape from, Shape to) {
    that(to.equals(Shape.broadcast(from, to)), "a shape that broadcasts to " + to, from);
  }

  static void index(TensorType type, String what) {
    that(
        type.element() == ElementType.I64 || type.element() == ElementType.I32,
        what + " of element type i64 or i32",
        type);
  }
}
