package io.partita.passes.schedule.lower;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * All tilings of a node: a {@link io.partita.ir.schedule.TiledKernel} whose tile sizes and
 * addresses in the working memory are not chosen yet.
 *
 * @param name the beginning of the name of the loop, such as {@code gemm_f32}
 * @param axes the axes in the order of loops, outermost first; tiling may reorder those that aren't
 *     a {@link Axis#reduction}
 * @param operands the operands and results of the node that kernels access
 * @param calls the calls, with indices of axes, operands and scratch in these lists
 * @param smaller the same in less memory, with tiles of operands that this one has whole or with
 *     less scratch, if there is such a way; its operands are the same
 */
public record TileSpace(
    String name,
    List<Axis> axes,
    List<Operand> operands,
    List<Scratch> scratch,
    List<KernelCall> calls,
    Optional<TileSpace> smaller) {
  public TileSpace {
    axes = List.copyOf(axes);
    operands = List.copyOf(operands);
    scratch = List.copyOf(scratch);
    calls = List.copyOf(calls);
  }

  public TileSpace(
      String name,
      List<Axis> axes,
      List<Operand> operands,
      List<Scratch> scratch,
      List<KernelCall> calls) {
    this(name, axes, operands, scratch, calls, Optional.empty());
  }

  /**
   * @param granule the unit of tile extents, unless a tile is whole; the extent itself if the axis
   *     can't be tiled
   * @param largest the largest tile extent; 1 for an axis through which the kernel doesn't iterate
   * @param reduction whether the result doesn't have this axis; such axes are innermost, in this
   *     order
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

    /** Whether the axis can be tiled; one that can't needs no loop. */
    public boolean canBeCut() {
      return granule < extent;
    }
  }

  /**
   * @param value the number of the value: the index of an operand, or the number of operands plus
   *     the index of a result
   * @param packing how the elements are stored
   * @param isNear whether the tensor is in the working memory, where kernels use its tiles
   */
  public record Operand(
      String name,
      int value,
      ElementType element,
      Packing packing,
      Direction direction,
      List<BoxDimension> box,
      boolean isNear)
      implements CoreGrid.Operand {
    public Operand {
      box = List.copyOf(box);
    }

    /** Creates an operand in the home memory. */
    public Operand(
        String name, int value, ElementType element, Direction direction, List<BoxDimension> box) {
      this(name, value, element, Packing.PLAIN, direction, box, false);
    }

    private Operand unpacking(TensorView stored) {
      return stored.isPacked() && element == ElementType.F32
          ? new Operand(name, value, stored.element(), stored.packing(), direction, box, isNear)
          : this;
    }

    Operand with(List<BoxDimension> other) {
      return new Operand(name, value, element, packing, direction, other, isNear);
    }

    Operand near() {
      return new Operand(name, value, element, packing, direction, box, true);
    }
  }

  /**
   * Returns the space with some operands in the working memory.
   *
   * @param near the numbers of operands
   */
  public TileSpace withNear(Set<Integer> near) {
    List<Operand> changed = new ArrayList<>(operands);
    near.forEach(number -> changed.set(number, operands.get(number).near()));
    return new TileSpace(
        name, axes, changed, scratch, calls, smaller.map(other -> other.withNear(near)));
  }

  /**
   * Returns the space on operands that are stored in 16 bits or in blocks, which kernels unpack.
   *
   * @param stored how values are stored, by number
   */
  TileSpace unpacking(List<TensorView> stored) {
    List<Operand> changed =
        operands.stream().map(each -> each.unpacking(stored.get(each.value))).toList();
    return new TileSpace(
        name, axes, changed, scratch, calls, smaller.map(other -> other.unpacking(stored)));
  }

  /** Returns the space with another way. */
  TileSpace inLessMemory(TileSpace other) {
    return new TileSpace(name, axes, operands, scratch, calls, Optional.of(other));
  }

  /** Scratch memory, with bytes for tiles of the full size. */
  public record Scratch(String name, TileExpression bytes) {}
}
