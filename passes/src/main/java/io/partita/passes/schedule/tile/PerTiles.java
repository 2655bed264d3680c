package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * A cache of values that depend only on the tile sizes along some axes of a loop, and not on other
 * axes, the order of loops or the number of slots.
 */
final class PerTiles<T> {
  private final int[] axes;
  private final Map<Sizes, T> known = new HashMap<>();

  private record Sizes(long[] of) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Sizes(long[] own) && Arrays.equals(of, own);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(of);
    }
  }

  /**
   * @param mask the axes, as bits
   */
  PerTiles(long mask) {
    axes = new int[Long.bitCount(mask)];
    long rest = mask;
    for (int i = 0; i < axes.length; i++) {
      axes[i] = Long.numberOfTrailingZeros(rest);
      rest &= rest - 1;
    }
  }

  /** Returns the axes on which an expression depends, as bits. */
  static long axes(TileExpression expression, int count) {
    long mask = 0;
    for (int axis = 0; axis < count; axis++) {
      mask |= expression.dependsOn(axis) ? 1L << axis : 0;
    }
    return mask;
  }

  T get(Tiling tiling, Function<Tiling, T> compute) {
    long[] sizes = new long[axes.length];
    for (int i = 0; i < axes.length; i++) {
      sizes[i] = tiling.tiles()[axes[i]];
    }
    Sizes key = new Sizes(sizes);
    T found = known.get(key);
    if (found == null) {
      found = compute.apply(tiling);
      known.put(key, found);
    }
    return found;
  }
}
