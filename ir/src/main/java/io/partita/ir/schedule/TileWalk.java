package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Arrays;
import java.util.List;

/** Iterates over the tiles of a loop in execution order. */
final class TileWalk implements TileExpression.Tile {
  private final List<TileAxis> axes;
  private final long[] counts;
  private final long[][] visited;
  private final long scalar;
  private final int[] at;
  private boolean isValid = true;

  /**
   * @param counts the number of tiles that run along each axis
   * @param visited the visited tiles of each axis, in ascending order
   * @param scalar the value of all scalars
   */
  TileWalk(List<TileAxis> axes, long[] counts, long[][] visited, long scalar) {
    this.axes = axes;
    this.counts = counts;
    this.visited = visited;
    this.scalar = scalar;
    this.at = new int[visited.length];
  }

  boolean isValid() {
    return isValid;
  }

  void next() {
    for (int axis = at.length - 1; axis >= 0; axis--) {
      if (++at[axis] < visited[axis].length) {
        return;
      }
      at[axis] = 0;
    }
    isValid = false;
  }

  /** Returns the number of the tile along an axis. */
  long index(int axis) {
    return visited[axis][at[axis]];
  }

  @Override
  public long start(int axis) {
    return index(axis) * axes.get(axis).tile();
  }

  @Override
  public long size(int axis) {
    TileAxis one = axes.get(axis);
    return Math.min(one.tile(), one.extent() - start(axis));
  }

  @Override
  public boolean isFirst(int axis) {
    return index(axis) == 0;
  }

  @Override
  public boolean isLast(int axis) {
    return index(axis) == counts[axis] - 1;
  }

  @Override
  public long scalar(int operand) {
    return scalar;
  }

  @Override
  public String toString() {
    long[] indices = new long[at.length];
    Arrays.setAll(indices, this::index);
    return Arrays.toString(indices);
  }
}
