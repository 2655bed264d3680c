package io.partita.ir.schedule;

import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/**
 * A tensor of a loop over tiles.
 *
 * <p>A tile is contiguous and row-major in the working memory, with its own extents: at the edge
 * its rows are shorter. Slots are the queue between the stage that copies tiles and the one that
 * runs kernels, and are used in turn: with two, one is copied while the kernel works on the other.
 * A near operand has no slots: its tensor is in the working memory, and kernels use the parts of it
 * where they are.
 *
 * @param name a short C identifier, unique in the loop: {@code x}, {@code weight}
 * @param element the type of the elements as the program has them
 * @param packing how they are stored in the home memory and in slots
 * @param box the part of the tensor, outermost dimension first. The last dimension has stride 1 or
 *     a single index. Nothing is loaded for a tile whose box is empty
 * @param offset the offset of the first slot in bytes; unused without slots
 * @param slotBytes the bytes of a slot, a multiple of the alignment of the working memory; slots
 *     are contiguous
 * @param slots the depth of the queue; 0 for a near operand
 * @param multicast if cores have private working memories: the direction along which one core loads
 *     a tile for all others
 * @param buffer the circular buffer of the slots, on chips with such buffers
 */
public record TileOperand(
    String name,
    ElementType element,
    Packing packing,
    Direction direction,
    List<BoxDimension> box,
    long offset,
    long slotBytes,
    int slots,
    Optional<CoreGrid.Axis> multicast,
    Optional<CircularBuffer> buffer)
    implements CoreGrid.Operand {
  public TileOperand {
    box = List.copyOf(box);
  }

  /** Creates an operand of cores that share their working memory. */
  public TileOperand(
      String name,
      ElementType element,
      Direction direction,
      List<BoxDimension> box,
      long offset,
      long slotBytes,
      int slots) {
    this(
        name,
        element,
        Packing.PLAIN,
        direction,
        box,
        offset,
        slotBytes,
        slots,
        Optional.empty(),
        Optional.empty());
  }

  /** Returns the bytes of elements in a row, or the offset of what follows them. */
  public long bytes(long elements) {
    return packing.bytes(element, elements);
  }

  /** Returns whether the tensor is in the working memory. */
  public boolean isNear() {
    return slots == 0 && direction != Direction.SCALAR;
  }

  /** Returns whether tiles are copied from the home memory or to it. */
  public boolean isMoved() {
    return slots > 0 && direction != Direction.SCALAR;
  }

  /** The least number of indices of a tile along a dimension: a result is never empty. */
  public long leastSize() {
    return direction == Direction.LOAD ? 0 : 1;
  }

  /** Whether a step along an axis needs another tile. */
  public boolean dependsOn(int axis) {
    return box.stream().anyMatch(dimension -> dimension.dependsOn(axis));
  }
}
