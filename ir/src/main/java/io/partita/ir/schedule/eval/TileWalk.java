package io.partita.ir.schedule.eval;

import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Arrays;

/** The way of one core through the tiles of a loop, and the tile where it is. */
final class TileWalk implements TileExpression.Tile {
  private final TiledKernel kernel;

  /** The number of the tile along each axis. */
  private final int[] index;

  /** The first tile along each axis, and the distance to the next one. */
  private final int[] first;

  private final int[] stride;

  private final long[] scalars;

  /** Visits all tiles. */
  TileWalk(TiledKernel kernel) {
    this.kernel = kernel;
    this.index = new int[kernel.axes().size()];
    this.first = new int[index.length];
    this.stride = new int[index.length];
    Arrays.fill(stride, 1);
    this.scalars = new long[kernel.operands().size()];
  }

  /** Visits the tiles of one core from now on; returns whether it has any. */
  boolean take(CoreGrid cores, int core) {
    boolean hasTile = true;
    for (int axis = 0; axis < index.length; axis++) {
      TileAxis one = kernel.axes().get(axis);
      first[axis] = one.over().isPresent() ? cores.place(core, one.over().get()) : 0;
      stride[axis] = one.over().map(cores::size).orElse(1);
      hasTile &= first[axis] < one.count();
    }
    return hasTile && (core == 0 || kernel.isDealt(cores, core));
  }

  /** Goes to the first tile. */
  void begin() {
    System.arraycopy(first, 0, index, 0, index.length);
  }

  /** Returns the outermost axis that advances to the next tile; -1 after the last tile. */
  int nextChanged() {
    for (int axis = index.length - 1; axis >= 0; axis--) {
      if ((index[axis] + stride[axis]) * kernel.axes().get(axis).tile() < end(axis)) {
        return axis;
      }
    }
    return -1;
  }

  /** Goes to the next tile along an axis, and to the first one along those inside it. */
  void advance(int axis) {
    index[axis] += stride[axis];
    System.arraycopy(first, axis + 1, index, axis + 1, index.length - axis - 1);
  }

  /** Returns the innermost axis of several tiles on which an operand depends, or -1. */
  int innermost(TileOperand operand) {
    int innermost = -1;
    for (int axis = 0; axis < index.length; axis++) {
      if (kernel.axes().get(axis).count() > 1 && operand.dependsOn(axis)) {
        innermost = axis;
      }
    }
    return innermost;
  }

  void setScalar(int operand, long value) {
    scalars[operand] = value;
  }

  @Override
  public long start(int axis) {
    return index[axis] * kernel.axes().get(axis).tile();
  }

  /** Returns where the loop over an axis ends. */
  private long end(int axis) {
    TileAxis one = kernel.axes().get(axis);
    return one.limit().isPresent()
        ? Math.clamp(one.limit().get().at(this), 1, one.extent())
        : one.extent();
  }

  @Override
  public long size(int axis) {
    TileAxis one = kernel.axes().get(axis);
    return Math.min(one.tile(), one.extent() - start(axis));
  }

  @Override
  public boolean isFirst(int axis) {
    return index[axis] == 0;
  }

  @Override
  public boolean isLast(int axis) {
    return start(axis) + kernel.axes().get(axis).tile() >= end(axis);
  }

  @Override
  public long scalar(int operand) {
    return scalars[operand];
  }

  /** The number of the tile along each axis. */
  @Override
  public String toString() {
    return Arrays.toString(index);
  }
}
