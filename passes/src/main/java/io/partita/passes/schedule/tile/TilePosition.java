package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Arrays;

/** The position of a tile along each axis of a loop; scalars are 0. */
final class TilePosition implements TileExpression.Tile {
  private final Tiling tiling;
  private final long[] index;

  /** Returns the first tile. */
  TilePosition(Tiling tiling) {
    this.tiling = tiling;
    this.index = new long[tiling.extents().length];
  }

  void move(int axis, long to) {
    index[axis] = to;
  }

  /** Returns a tile of the full size along each axis, with others on both sides if possible. */
  void toMiddle() {
    Arrays.setAll(index, axis -> (tiling.count(axis) - 1) / 2);
  }

  void toLast(int axis) {
    index[axis] = tiling.count(axis) - 1;
  }

  @Override
  public long start(int axis) {
    return index[axis] * tiling.tiles()[axis];
  }

  @Override
  public long size(int axis) {
    return isLast(axis) ? tiling.edge(axis) : tiling.tiles()[axis];
  }

  @Override
  public boolean isFirst(int axis) {
    return index[axis] == 0;
  }

  @Override
  public boolean isLast(int axis) {
    return index[axis] == tiling.count(axis) - 1;
  }

  @Override
  public long scalar(int operand) {
    return 0;
  }
}
