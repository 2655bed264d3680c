package io.partita.ir.schedule;

import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How cores with private working memories compute a product: blocks of the result, and the depth to
 * which operands are in the working memory.
 *
 * <p>Each core computes its blocks row by row; the sums of a block are complete before the next
 * one.
 *
 * @param rows the blocks from row to row of the result
 * @param columns the blocks from column to column
 * @param depth the blocks of operands along the depth, which are those of each core
 * @param others the blocks that the queues of further operands hold
 * @param result the blocks that the queue of the result holds
 * @param sums the type of sums in destination registers, and of those that are kept
 */
public record ProductBlocks(
    Extent rows,
    Extent columns,
    Extent depth,
    Queue left,
    Queue right,
    int others,
    int result,
    ElementType sums)
    implements CoreBlocks {
  /** The bits of all pages that destination registers hold, for each element. */
  private static final int REGISTER_BITS = 8 * 16;

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
            operands.get(result).slots(),
            grid.sums(operands)));
  }

  /** Whether sums of a block are kept while the next blocks of operands are loaded. */
  public boolean keepsSums() {
    return depth.block() < depth.pages();
  }

  /** Whether one core loads blocks of the left operand for others. */
  public boolean sharesLeft() {
    return left.isMulticast() && columns.cores() > 1;
  }

  /** Whether one core loads blocks of the right operand for others. */
  public boolean sharesRight() {
    return right.isMulticast() && rows.cores() > 1;
  }

  @Override
  public List<Integer> shared() {
    List<Integer> shared = new ArrayList<>();
    if (sharesLeft()) {
      shared.add(0);
    }
    if (sharesRight()) {
      shared.add(1);
    }
    return List.copyOf(shared);
  }

  /**
   * Returns the largest part of a block whose sums destination registers hold.
   *
   * @param hasOthers whether a register is needed for further operands
   */
  public Part part(boolean hasOthers) {
    return part(hasOthers ? 1 : 0);
  }

  /**
   * Returns the largest part of a block whose sums destination registers hold.
   *
   * @param spare the registers that are needed for something else
   */
  private Part part(int spare) {
    int registers = REGISTER_BITS / sums.bits() - spare;
    long width = Math.min(columns.block(), registers);
    return new Part(Math.min(rows.block(), registers / width), width);
  }
}
