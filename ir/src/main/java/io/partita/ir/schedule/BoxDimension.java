package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.TileExpression;
import java.util.ArrayList;
import java.util.List;

/**
 * One dimension of the part of a tensor that belongs to a tile.
 *
 * @param start the first index, at least 0
 * @param size the number of indices; start + size is at most the extent. Only loads may have 0, in
 *     tiles where a factor of the size is that: {@link TileExpression.First} or {@link
 *     TileExpression.Last}
 * @param extent the extent of the tensor
 * @param stride the stride in the home memory, in elements
 */
public record BoxDimension(TileExpression start, TileExpression size, long extent, long stride) {
  /** If all indices are the same element, the first one is irrelevant. */
  public BoxDimension {
    start = stride == 0 ? TileExpression.of(0) : start;
  }

  /** Returns the whole dimension. */
  public static BoxDimension whole(long extent, long stride) {
    return new BoxDimension(TileExpression.of(0), TileExpression.of(extent), extent, stride);
  }

  /** Returns the tile's part along an axis of the same extent. */
  public static BoxDimension along(int axis, long extent, long stride) {
    return new BoxDimension(TileExpression.start(axis), TileExpression.size(axis), extent, stride);
  }

  /** Returns whether the elements of a tile are adjacent, in row-major order. */
  public static boolean isLine(List<BoxDimension> box, TileExpression.Tile tile) {
    long within = 1;
    for (BoxDimension dimension : box.reversed()) {
      long size = dimension.size().at(tile);
      if (size != 1) {
        if (dimension.stride() != within) {
          return false;
        }
        within *= size;
      }
    }
    return true;
  }

  /** Returns the factors of the size that are 0 in some tiles, and else 1. */
  public List<TileExpression> conditions() {
    List<TileExpression> factors = new ArrayList<>(List.of(size));
    List<TileExpression> conditions = new ArrayList<>();
    while (!factors.isEmpty()) {
      switch (factors.removeFirst()) {
        case TileExpression.Product(var left, var right) -> factors.addAll(List.of(left, right));
        case TileExpression.First first -> conditions.add(first);
        case TileExpression.Last last -> conditions.add(last);
        case TileExpression other -> {}
      }
    }
    return conditions;
  }

  /** Returns the dimension in tiles that have one. */
  public BoxDimension whenLoaded() {
    List<TileExpression> conditions = conditions();
    TileExpression one = TileExpression.of(1);
    return conditions.isEmpty()
        ? this
        : new BoxDimension(
            start, size.replacing(leaf -> conditions.contains(leaf) ? one : leaf), extent, stride);
  }

  boolean dependsOn(int axis) {
    return start.dependsOn(axis) || size.dependsOn(axis);
  }
}
