package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;

/** The work of the kernel calls of a loop over tiles, in the units of their rates. */
public final class LoopWork {
  private LoopWork() {}

  /**
   * Returns the work of a call on all tiles: that on one tile which covers all axes. Work that
   * depends on a value of the run counts as the largest.
   */
  public static double of(KernelCall call, TiledKernel loop) {
    TileExpression.Tile whole = new Whole(loop);
    double work = 1;
    for (TileExpression factor : call.work()) {
      work *= factor.at(whole);
    }
    return work;
  }

  /** Returns the value of an expression on the tile that covers all axes. */
  static long of(TileExpression value, TiledKernel loop) {
    return value.at(new Whole(loop));
  }

  /** One tile that covers all axes. */
  private record Whole(TiledKernel loop) implements TileExpression.Tile {
    @Override
    public long start(int axis) {
      return 0;
    }

    @Override
    public long size(int axis) {
      return loop.axes().get(axis).extent();
    }

    @Override
    public boolean isFirst(int axis) {
      return true;
    }

    @Override
    public boolean isLast(int axis) {
      return true;
    }

    @Override
    public long scalar(int operand) {
      return Integer.MAX_VALUE;
    }
  }
}
