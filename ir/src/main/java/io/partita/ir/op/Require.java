package io.partita.ir.op;

import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Checks that the type inference of several operations uses. */
final class Require {
  private Require() {}

  /** Checks that a tensor of this type can exist, so that its elements and bytes can be counted. */
  static void possible(TensorType type) {
    if (!type.isPossible()) {
      boolean negative = type.shape().dims().stream().anyMatch(d -> d.isStatic() && d.value() < 0);
      throw new TypeMismatch(
          negative
              ? "a result with extents of 0 or more"
              : type.rank() > TensorType.MAX_DIMENSIONS
                  ? "a result of at most " + TensorType.MAX_DIMENSIONS + " dimensions"
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
    // The text is built only for mistakes, since every operation of every graph is checked.
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
        "operands of equal element type",
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

  /** Checks that two extents are equal; a mismatch carries the equation. */
  static void equal(Dim left, Dim right, Object expected, Object found) {
    equal(Shape.of(left), Shape.of(right), expected, found);
  }

  /**
   * Checks that two shapes are equal; a mismatch carries an equation for each axis that differs.
   */
  static void equal(Shape left, Shape right, Object expected, Object found) {
    if (!left.equals(right)) {
      throw new TypeMismatch(
          String.valueOf(expected), String.valueOf(found), differences(left, right));
    }
  }

  private static List<TypeMismatch.Equation> differences(Shape left, Shape right) {
    List<TypeMismatch.Equation> equations = new ArrayList<>();
    for (int axis = 0; left.rank() == right.rank() && axis < left.rank(); axis++) {
      if (!left.dim(axis).equals(right.dim(axis))) {
        equations.add(new TypeMismatch.Equation(left.dim(axis), right.dim(axis)));
      }
    }
    return equations;
  }

  static Shape broadcast(Shape left, Shape right) {
    Shape shape = Shape.broadcast(left, right);
    if (shape == null) {
      throw new TypeMismatch(
          "shapes that broadcast", left + " and " + right, broadcastEquations(left, right));
    }
    return shape;
  }

  /** Checks that {@code from} broadcasts to exactly {@code to}. */
  static void broadcastsTo(Shape from, Shape to) {
    if (!to.equals(Shape.broadcast(from, to))) {
      throw new TypeMismatch(
          "a shape that broadcasts to " + to,
          from.toString(),
          from.rank() > to.rank() ? List.of() : broadcastEquations(from, to));
    }
  }

  /** Returns the equations of trailing extents that differ, if neither is 1. */
  private static List<TypeMismatch.Equation> broadcastEquations(Shape left, Shape right) {
    List<TypeMismatch.Equation> equations = new ArrayList<>();
    for (int axis = 0; axis < Math.min(left.rank(), right.rank()); axis++) {
      Dim a = left.fromEnd(axis);
      Dim b = right.fromEnd(axis);
      if (!a.equals(b) && !a.is(1) && !b.is(1)) {
        equations.add(new TypeMismatch.Equation(a, b));
      }
    }
    return equations;
  }

  static void index(TensorType type, String what) {
    that(
        type.element() == ElementType.I64 || type.element() == ElementType.I32,
        what + " of element type i64 or i32",
        type);
  }
}
