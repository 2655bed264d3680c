package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/**
 * All ways to compute one node in tiles: a {@link io.partita.ir.schedule.TiledKernel} whose tiles'
 * sizes and places in the working memory are still open.
 *
 * @param name what a name of the loop begins with: {@code gemm_f32}
 * @param axes in the order of the loops, outermost first; the choice of tiles may put those that
 *     aren't {@link Axis#reduction} in another order
 * @param operands the node's operands and results that the kernel touches
 * @param calls indices of axes, operands and scratch are those of the lists here
 */
public record TileSpace(
    String name,
    List<Axis> axes,
    List<Operand> operands,
    List<Scratch> scratch,
    List<KernelCall> calls) {
  public TileSpace {
    axes = List.copyOf(axes);
    operands = List.copyOf(operands);
    scratch = List.copyOf(scratch);
    calls = List.copyOf(calls);
  }

  /**
   * @param granule tiles are multiples of it, or the whole extent; the extent itself where the axis
   *     can't be cut
   * @param largest what a tile can't be above: 1 for an axis that the kernel doesn't walk
   * @param reduction whether results don't depend on it: such axes are innermost, in this order
   * @param limit as in {@link io.partita.ir.schedule.TileAxis}
   */
  public record Axis(
      String name,
      long extent,
      long granule,
      long largest,
      boolean reduction,
      Optional<TileExpression> limit) {
    public Axis(String name, long extent, long granule) {
      this(name, extent, granule, false, Optional.empty());
    }

    public Axis(
        String name, long extent, long granule, boolean reduction, Optional<TileExpression> limit) {
      this(name, extent, Math.min(granule, extent), extent, reduction, limit);
    }

    /** An axis that can't be cut needs no loop. */
    public boolean canBeCut() {
      return granule < extent;
    }
  }

  /**
   * @param value which of the node's values it is: an operand by its index, a result by the number
   *     of operands and its index
   */
  public record Operand(
      String name, int value, ElementType element, Direction direction, List<BoxDimension> box) {
    public Operand {
      box = List.copyOf(box);
    }
  }

  /** Bytes are those for tiles of the full size. */
  public record Scratch(String name, TileExpression bytes) {}
}
