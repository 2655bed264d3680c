package io.partita.passes.schedule.tile;

/**
 * One way to run a loop.
 *
 * @param extents of the axes
 * @param tiles of the axes
 * @param order numbers of axes, the outermost loop's first
 * @param slots of each operand
 */
record Tiling(long[] extents, long[] tiles, int[] order, int[] slots) {
  long count(int axis) {
    return Math.ceilDiv(extents[axis], tiles[axis]);
  }

  /** How many elements the last tile has. */
  long edge(int axis) {
    return extents[axis] - (count(axis) - 1) * tiles[axis];
  }
}
