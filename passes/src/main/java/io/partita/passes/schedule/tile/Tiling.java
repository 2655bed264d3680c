package io.partita.passes.schedule.tile;

/**
 * A tiling of a loop.
 *
 * @param extents the extents of axes
 * @param tiles the tile extents of axes
 * @param order the numbers of axes, outermost loop first
 * @param slots the number of slots of each operand
 */
record Tiling(long[] extents, long[] tiles, int[] order, int[] slots) {
  long count(int axis) {
    return Math.ceilDiv(extents[axis], tiles[axis]);
  }

  /** Returns the extent of the last tile. */
  long edge(int axis) {
    return extents[axis] - (count(axis) - 1) * tiles[axis];
  }
}
