package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.KernelCall;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How cores with private working memories compute norms or softmaxes of rows: each core has some
 * rows of pages at a time, and what all rows are scaled by as long as it computes.
 *
 * @param rows the blocks from row to row
 * @param columns the pages of a row, which is whole
 * @param x the queue of the rows
 * @param sharesVectors whether one core loads scales and biases for all others
 * @param result the blocks that the queue of the result holds
 */
public record RowBlocks(Extent rows, Extent columns, Queue x, boolean sharesVectors, int result)
    implements CoreBlocks {
  private static final Set<String> FAMILIES = Set.of("rms_norm", "layer_norm", "softmax");

  /** Returns whether a kernel computes whole rows, of which it keeps intermediate results. */
  public static boolean isOfRows(KernelCall call) {
    return FAMILIES.contains(call.kernel().family());
  }

  /**
   * Returns the blocks of a loop.
   *
   * @return empty if the loop doesn't compute norms or softmaxes of rows on private tiles
   */
  public static Optional<RowBlocks> of(TiledKernel loop, CoreGrid grid) {
    TileOperand x = loop.operands().getFirst();
    TileOperand result = loop.operands().getLast();
    List<BoxDimension> out = result.box();
    if (x.buffer().isEmpty()
        || result.direction() != Direction.STORE
        || loop.calls().isEmpty()
        || !isOfRows(loop.calls().getFirst())) {
      return Optional.empty();
    }
    Extent rows = Extent.of(loop, out.subList(0, out.size() - 1), grid);
    Extent columns = Extent.of(loop, out.subList(out.size() - 1, out.size()), grid);
    boolean isShared =
        loop.operands().subList(1, loop.operands().size()).stream()
            .anyMatch(operand -> operand.multicast().isPresent());
    return Optional.of(new RowBlocks(rows, columns, Queue.of(x), isShared, result.slots()));
  }

  @Override
  public List<Integer> shared() {
    return sharesVectors && rows.cores() > 1 ? List.of(1) : List.of();
  }
}
