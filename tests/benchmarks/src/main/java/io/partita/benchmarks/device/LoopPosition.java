package io.partita.benchmarks.device;

import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.TileExpression;

/** A tile of a loop, initially the first. */
final class LoopPosition implements TileExpression.Tile {
  /** A loop with a dynamic limit counts with its whole extent. */
  private static final long UNLIMITED = Long.MAX_VALUE / 4;

  private final TiledKernel loop;
  private final long[] index;
  private boolean isInside = true;

  LoopPosition(TiledKernel loop) {
    this.loop = loop;
    this.index = new long[loop.axes().size()];
  }

  /** Whether the tile exists. */
  boolean isInside() {
    return isInside;
  }

  /** Advances to the next tile. */
  void next() {
    for (int axis = index.length - 1; axis >= 0; axis--) {
      index[axis]++;
      if (index[axis] < loop.axes().get(axis).count()) {
        return;
      }
      index[axis] = 0;
    }
    isInside = false;
  }

  @Override
  public long start(int axis) {
    return index[axis] * loop.axes().get(axis).tile();
  }

  @Override
  public long size(int axis) {
    TileAxis each = loop.axes().get(axis);
    return Math.min(each.tile(), each.extent() - start(axis));
  }

  @Override
  public boolean isFirst(int axis) {
    return index[axis] == 0;
  }

  @Override
  public boolean isLast(int axis) {
    return index[axis] == loop.axes().get(axis).count() - 1;
  }

  @Override
  public long scalar(int scalar) {
    return UNLIMITED;
  }
}
