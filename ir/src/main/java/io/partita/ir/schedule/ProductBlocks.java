package io.partita.ir.schedule;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How cores with private working memories compute a product: blocks of the result, in pages of
 * {@link #PAGE} rows and columns, and the depth to which operands are in the working memory. It is
 * what the loop over tiles says, for backends whose kernels work on pages.
 *
 * <p>Each core computes its blocks row by row; the sums of a block are complete before the next
 * one.
 *
 * @param rows the blocks from row to row of the result
 * @param columns the blocks from column to column
 * @param depth the blocks of operands along the depth, which are those of each core
 * @param others the blocks that the queues of further operands hold
 * @param result the blocks that the queue of the result holds
 */
public record ProductBlocks(
    Extent rows, Extent columns, Extent depth, Queue left, Queue right, int others, int result) {
  /** Rows and columns of a page. */
  public static final int PAGE = 32;

  /** The bits of all pages that destination registers hold, for each element. */
  private static final int REGISTER_BITS = 8 * 16;

  /**
   * Pages along a direction. Blocks are dealt to cores in turn: core {@code i} has the blocks
   * {@code i}, {@code i + cores}, …
   *
   * @param pages all pages
   * @param block the pages of a block
   * @param cores at most as many as there are blocks
   */
  public record Extent(long pages, long block, int cores) {
    public Extent {
      block = Math.min(block, pages);
      cores = (int) Math.min(cores, Math.ceilDiv(pages, block));
    }

    /** Returns the pages of a block of each core. */
    public long round() {
      return block * cores;
    }

    /** Dimensions of a tensor as one. */
    private static Extent of(TiledKernel loop, List<BoxDimension> dimensions, CoreGrid grid) {
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
            cores = Math.max(cores, (int) Math.min(along, one.count()));
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
  public record Queue(int slots, boolean isMulticast) {
    private static Queue of(TileOperand operand) {
      return new Queue(operand.slots(), operand.multicast().isPresent());
    }
  }

  /** A part of a block of the result, in pages. */
  public record Part(long rows, long columns) {}

  /**
   * Returns the blocks of a loop.
   *
   * @return empty if the loop doesn't compute a product on private tiles
   */
  public static Optional<ProductBlocks> of(TiledKernel loop, CoreGrid grid) {
    List<TileOperand> operands = loop.operands();
    int result =
        IntStream.range(0, operands.size())
            .filter(i -> operands.get(i).direction() == Direction.STORE)
            .findFirst()
            .orElse(0);
    boolean isProduct =
        loop.calls().stream()
            .flatMap(call -> call.arguments().stream())
            .anyMatch(argument -> argument.field().equals("right_column"));
    if (result < 2 || !isProduct || operands.getFirst().buffer().isEmpty()) {
      return Optional.empty();
    }
    List<BoxDimension> out = operands.get(result).box();
    List<BoxDimension> terms = operands.getFirst().box();
    return Optional.of(
        new ProductBlocks(
            Extent.of(loop, out.subList(0, out.size() - 1), grid),
            Extent.of(loop, out.subList(out.size() - 1, out.size()), grid),
            Extent.of(loop, terms.subList(terms.size() - 1, terms.size()), grid),
            Queue.of(operands.get(0)),
            Queue.of(operands.get(1)),
            operands.subList(2, result).stream()
                .filter(TileOperand::isMoved)
                .mapToInt(TileOperand::slots)
                .min()
                .orElse(1),
            operands.get(result).slots()));
  }

  /** Whether sums of a block are kept while the next blocks of operands are loaded. */
  public boolean keepsSums() {
    return depth.block < depth.pages;
  }

  /** Whether one core loads blocks of the left operand for others. */
  public boolean sharesLeft() {
    return left.isMulticast && columns.cores > 1;
  }

  /** Whether one core loads blocks of the right operand for others. */
  public boolean sharesRight() {
    return right.isMulticast && rows.cores > 1;
  }

  /**
   * Returns the largest part of a block that destination registers hold.
   *
   * @param bits the bits of an element in them
   * @param spare the registers that are needed for something else
   */
  public Part part(int bits, int spare) {
    int registers = REGISTER_BITS / bits - spare;
    long width = Math.min(columns.block, registers);
    return new Part(Math.min(rows.block, registers / width), width);
  }
}
