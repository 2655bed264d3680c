package io.partita.ir.schedule;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * How cores with private working memories compute a result: blocks in pages of {@link #PAGE} rows
 * and columns, which are dealt to them in turn. It is what a loop over tiles says, for backends
 * whose kernels work on pages.
 */
public sealed interface CoreBlocks permits ProductBlocks, RowBlocks, TileBlocks, AttentionBlocks {
  /** Rows and columns of a page. */
  int PAGE = 32;

  /**
   * Returns the blocks of a loop.
   *
   * @return empty if pages of its result aren't those of a matrix, or tiles aren't private
   */
  static Optional<CoreBlocks> of(TiledKernel loop, CoreGrid grid) {
    return Stream.<Supplier<Optional<? extends CoreBlocks>>>of(
            () -> ProductBlocks.of(loop, grid),
            () -> RowBlocks.of(loop, grid),
            () -> AttentionBlocks.of(loop, grid),
            () -> TileBlocks.of(loop, grid))
        .flatMap(each -> each.get().stream())
        .<CoreBlocks>map(each -> each)
        .findFirst();
  }

  /** Returns the blocks from row to row of the result. */
  Extent rows();

  /** Returns the blocks from column to column. */
  Extent columns();

  /**
   * Returns the operands whose blocks one core loads for all others that need them: the first one
   * for those along a row of cores, others for those along a column.
   */
  List<Integer> shared();

  /**
   * Pages along a direction. Blocks are dealt to cores in turn: core {@code i} has the blocks
   * {@code i}, {@code i + cores}, …
   *
   * @param pages all pages
   * @param block the pages of a block
   * @param cores at most as many as there are blocks
   */
  record Extent(long pages, long block, int cores) {
    public Extent {
      block = Math.min(block, pages);
      cores = (int) Math.min(cores, Math.ceilDiv(pages, block));
    }

    /** Returns the pages of a block of each core. */
    public long round() {
      return block * cores;
    }

    /** Dimensions of a tensor as one. */
    static Extent of(TiledKernel loop, List<BoxDimension> dimensions, CoreGrid grid) {
      long all = 1;
      long tile = 1;
      int cores = 1;
      for (BoxDimension dimension : dimensions) {
        long size = dimension.extent();
        for (int axis = 0; axis < loop.axes().size(); axis++) {
          TileAxis one = loop.axes().get(axis);
          if (dimension.dependsOn(axis)) {
            size = one.tile();
            int along = one.over().map(grid::size).orElse(1);
            cores *= (int) Math.min(along, one.count());
          }
        }
        all *= dimension.extent();
        tile *= size;
      }
      return new Extent(Math.ceilDiv(all, PAGE), Math.ceilDiv(tile, PAGE), cores);
    }
  }

  /**
   * The queue of an operand.
   *
   * @param slots the blocks that it holds
   * @param isMulticast whether one core loads each block for all others that need it
   */
  record Queue(int slots, boolean isMulticast) {
    static Queue of(TileOperand operand) {
      return new Queue(operand.slots(), operand.multicast().isPresent());
    }
  }
}
