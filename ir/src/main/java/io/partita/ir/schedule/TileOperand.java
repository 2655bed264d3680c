package io.partita.ir.schedule;

import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;

/**
 * One tensor of a loop over tiles.
 *
 * <p>A tile lies in the working memory without gaps, row by row, in an extent that is the tile's
 * own: at the edge its rows are shorter. Slots are the queue between the stage that copies tiles
 * and the one that runs kernels, and tiles are in each in turn: with two, one is copied while the
 * kernel works on the other.
 *
 * @param name a short C identifier, one of its own in the loop: {@code x}, {@code weight}
 * @param box outermost first. The last dimension's stride is 1, or there's but one index
 * @param offset in bytes of the first slot; not used for a {@link Direction#SCALAR}
 * @param slotBytes bytes of one slot, a multiple of the alignment of the working memory; the others
 *     follow it
 * @param slots the depth of the queue
 * @param multicast where each core has its own working memory: along what one core's load of a tile
 *     goes to all others, which need the same
 * @param buffer the queue that slots are, where the chip has such
 */
public record TileOperand(
    String name,
    ElementType element,
    Direction direction,
    List<BoxDimension> box,
    long offset,
    long slotBytes,
    int slots,
    Optional<CoreGrid.Axis> multicast,
    Optional<CircularBuffer> buffer) {
  public TileOperand {
    box = List.copyOf(box);
  }

  /** Of cores that share their working memory. */
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
        direction,
        box,
        offset,
        slotBytes,
        slots,
        Optional.empty(),
        Optional.empty());
  }

  /** Whether another tile is needed for the next step along an axis. */
  public boolean dependsOn(int axis) {
    return box.stream().anyMatch(dimension -> dimension.dependsOn(axis));
  }
}
