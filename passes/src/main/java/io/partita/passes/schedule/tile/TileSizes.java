package io.partita.passes.schedule.tile;

import io.partita.passes.schedule.lower.TileSpace;
import java.util.TreeSet;
import java.util.stream.LongStream;

/** Candidate tile extents along an axis, in ascending order. */
final class TileSizes {
  /** The number of tile extents up to which all are tried. */
  private static final long FEW = 24;

  /** The block size of kernels; lines of transfers and of the cache are longer. */
  private static final long[] BLOCKS = {4, 16};

  private TileSizes() {}

  /**
   * Returns the extents of tiles of nearly equal size, for 1, 2, 3 and then increasing numbers of
   * tiles, rounded up to whole granules and to the blocks of kernels. The smallest extent comes
   * first; a {@code growth} near 1 gives more candidates.
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
