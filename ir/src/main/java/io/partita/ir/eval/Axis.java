package io.partita.ir.eval;

import io.partita.ir.type.Shape;

/**
 * The lines along one axis of a row-major tensor.
 *
 * @param outer the elements of the dimensions before it
 * @param extent the extent of the axis
 * @param inner the elements of the dimensions after it: the stride of a line
 */
record Axis(int outer, int extent, int inner) {
  static Axis of(Shape shape, int axis) {
    return new Axis(
        Math.toIntExact(shape.range(0, axis).elements()),
        Math.toIntExact(shape.extent(axis)),
        Math.toIntExact(shape.range(axis + 1, shape.rank()).elements()));
  }

  /** Returns the offset of the first element of one of the {@code outer · inner} lines. */
  int start(int line) {
    return line / inner * extent * inner + line % inner;
  }
}
