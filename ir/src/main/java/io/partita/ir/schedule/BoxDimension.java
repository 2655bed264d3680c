package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.TileExpression;

/**
 * One dimension of the part of a tensor that a tile works on.
 *
 * @param start the first index; not below 0
 * @param size how many indices, at least 1; start + size doesn't exceed the extent
 * @param extent of the tensor
 * @param stride elements at home from one index to the next
 */
public record BoxDimension(TileExpression start, TileExpression size, long extent, long stride) {
  /** Where all indices are the same element, it doesn't matter which is the first. */
  public BoxDimension {
    start = stride == 0 ? TileExpression.of(0) : start;
  }

  /** The whole dimension. */
  public static BoxDimension whole(long extent, long stride) {
    return new BoxDimension(TileExpression.of(0), TileExpression.of(extent), extent, stride);
  }

  /** The tile's part along an axis of the same extent. */
  public static BoxDimension along(int axis, long extent, long stride) {
    return new BoxDimension(TileExpression.start(axis), TileExpression.size(axis), extent, stride);
  }

  boolean dependsOn(int axis) {
    return start.dependsOn(axis) || size.dependsOn(axis);
  }
}
