package io.partita.ir.schedule;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Reduction;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.type.Shape;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How cores with private working memories compute a result of which each page depends on few pages
 * of operands: functions of elements, rotary embeddings, rows of tables, and new rows of a state.
 *
 * @param rows the blocks from row to row
 * @param columns the blocks from column to column
 * @param operands the blocks that the queue of each operand holds
 * @param result the blocks that the queue of the result holds
 */
public record TileBlocks(Extent rows, Extent columns, int operands, int result)
    implements CoreBlocks {
  /**
   * The most rows of which a mean adds one after the other. Each has a circular buffer, and so has
   * what their sum is multiplied by.
   */
  private static final long MOST_TERMS = 14;

  private static final Set<String> STRUCTS = Set.of("unary", "binary", "select", "rotary");

  /** Enough that transfers overlap with computing. */
  private static final int TWO = 2;

  /** Returns whether a kernel computes elements of tiles independently of other tiles. */
  public static boolean isOfTiles(KernelCall call) {
    return STRUCTS.contains(call.kernel().struct().name());
  }

  /** Returns whether a mean is one of so few rows, in all, that each can be an operand. */
  public static boolean isMeanOfFewRows(Reduction.Reduce reduce, Shape shape) {
    int axis = shape.rank() - 2;
    return reduce.reduction() == ReductionKind.MEAN
        && reduce.axes().equals(List.of(axis))
        && shape.range(0, axis).elements() == 1
        && shape.extent(axis) <= MOST_TERMS;
  }

  /**
   * Returns the blocks of a loop.
   *
   * @return empty if the loop doesn't compute such a result on private tiles
   */
  public static Optional<TileBlocks> of(TiledKernel loop, CoreGrid grid) {
    List<TileOperand> loads =
        loop.operands().stream().filter(each -> each.direction() == Direction.LOAD).toList();
    TileOperand result = loop.operands().getLast();
    boolean isOfTiles =
        loop.calls().stream().limit(1).anyMatch(TileBlocks::isOfTiles) || isOfNumberedRows(loop);
    // Numbers of 64 bits, such as positions, aren't in pages.
    boolean isPaged = result.buffer().isPresent() && result.element().bits() <= Integer.SIZE;
    if (!isOfTiles || loads.isEmpty() || !isPaged) {
      return Optional.empty();
    }
    // Of a state, only the new rows are computed.
    boolean isPart = result.box().stream().anyMatch(each -> each.start().readsScalar());
    List<BoxDimension> box = isPart ? loads.getFirst().box() : result.box();
    return Optional.of(
        new TileBlocks(
            Extent.of(loop, box.subList(0, box.size() - 1), grid),
            Extent.of(loop, box.subList(box.size() - 1, box.size()), grid),
            loads.stream().mapToInt(TileOperand::slots).min().orElseThrow(),
            result.slots()));
  }

  /** Whether a loop moves rows whose places are numbers that are known in a run only. */
  private static boolean isOfNumberedRows(TiledKernel loop) {
    return loop.operands().stream()
        .flatMap(operand -> operand.box().stream())
        .anyMatch(each -> each.start().readsScalar());
  }

  /**
   * Returns the blocks of a result that no loop computes, such as another shape of a value: single
   * pages, over the rows, the columns or both directions of the grid, whichever leaves the fewest
   * pages to a core.
   */
  public static TileBlocks of(long rows, long columns, CoreGrid grid) {
    return Stream.of(
            single(rows, 1, columns, grid.cores()),
            single(rows, grid.cores(), columns, 1),
            single(rows, grid.rows(), columns, grid.columns()))
        .min(Comparator.comparingLong(TileBlocks::pagesOfCore))
        .orElseThrow();
  }

  /** Does the same for whole rows. */
  public static TileBlocks ofRows(long rows, long columns, CoreGrid grid) {
    return new TileBlocks(
        new Extent(rows, 1, grid.cores()), new Extent(columns, columns, 1), TWO, TWO);
  }

  private static TileBlocks single(long rows, int over, long columns, int across) {
    return new TileBlocks(new Extent(rows, 1, over), new Extent(columns, 1, across), TWO, TWO);
  }

  private long pagesOfCore() {
    return Math.ceilDiv(rows.pages(), rows.round())
        * Math.ceilDiv(columns.pages(), columns.round());
  }

  @Override
  public List<Integer> shared() {
    return List.of();
  }
}
