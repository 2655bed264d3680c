package io.partita.passes.schedule.tile;

import io.partita.passes.schedule.lower.TileSpace;
import java.util.TreeSet;
import java.util.stream.LongStream;

/** Extents of tiles that are worth trying along an axis, ascending. */
final class TileSizes {
  /** Axes with no more places to cut are cut at all of them. */
  private static final long FEW = 24;

  /** Kernels work in blocks of 4, lines of a transfer and of the cache are longer. */
  private static final long[] BLOCKS = {4, 16};

  private TileSizes() {}

  /**
   * Those that make tiles of nearly one size, for 1, 2, 3 and then ever more tiles, rounded up to
   * whole granules, and to the blocks of kernels. The smallest that there is comes first, and with
   * {@code growth} near 1 there are more.
   */
  static long[] of(TileSpace.Axis axis, double growth) {
    if (!axis.canBeCut()) {
      return new long[] {axis.extent()};
    }
    TreeSet<Long> sizes = new TreeSet<>();
    if (axis.extent() <= FEW * axis.granule()) {
      LongStream.iterate(axis.granule(), size -> size < axis.extent(), s -> s + axis.granule())
          .forEach(sizes::add);
    }
    for (double count = 1; count < axis.extent(); count = Math.max(count + 1, count * growth)) {
      long even = Math.ceilDiv(axis.extent(), (long) count);
      add(sizes, even, axis);
      for (long block : BLOCKS) {
        if (even > 2 * block) {
          add(sizes, WorkingMemory.align(even, block), axis);
        }
      }
    }
    sizes.add(axis.granule());
    sizes.add(axis.extent());
    sizes.removeIf(size -> size > Math.max(axis.granule(), axis.largest()));
    return sizes.stream().mapToLong(Long::longValue).toArray();
  }

  private static void add(TreeSet<Long> sizes, long size, TileSpace.Axis axis) {
    sizes.add(Math.min(axis.extent(), WorkingMemory.align(size, axis.granule())));
  }
}
