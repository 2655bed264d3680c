package io.partita.ir.schedule;

import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * One tensor of a loop over tiles.
 *
 * <p>A tile lies in the working memory without gaps, row by row, in an extent that is the tile's
 * own: at the edge its rows are shorter. With two slots, tiles alternate between them: one is
 * copied while the kernel works on the other.
 *
 * @param name a short C identifier, one of its own in the loop: {@code x}, {@code weight}
 * @param box outermost first. The last dimension's stride is 1, or there's but one index
 * @param offset in bytes of the first slot; not used for a {@link Direction#SCALAR}
 * @param slotBytes bytes of one slot, a multiple of the alignment of the working memory; the second
 *     follows it
 * @param slots 1 or 2
 */
public record TileOperand(
    String name,
    ElementType element,
    Direction direction,
    List<BoxDimension> box,
    long offset,
    long slotBytes,
    int slots) {
  public TileOperand {
    box = List.copyOf(box);
  }

  /** Whether another tile is needed for the next step along an axis. */
  public boolean dependsOn(int axis) {
    return box.stream().anyMatch(dimension -> dimension.dependsOn(axis));
  }
}
