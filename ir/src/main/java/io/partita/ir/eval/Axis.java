package io.partita.ir.eval;

import io.partita.ir.type.Shape;

/**
 * The lines along one axis of a row-major tensor.
 *
 * @param outer elements of the dimensions before it
 * @param extent of the axis
 * @param inner elements of the dimensions after it: how far neighbours on a line are apart
 */
record Axis(int outer, int extent, int inner) {
  static Axis of(Shape shape, int axis) {
    return new Axis(
        Math.toIntExact(shape.range(0, axis).elements()),
        Math.toIntExact(shape.extent(axis)),
        Math.toIntExact(shape.range(axis + 1, shape.rank()).elements()));
  }

  /** Offset of the first element of a line, of which there are {@code outer · inner}. */
  int start(int line) {
    return line / inner * extent * inner + line % inner;
  }
}
