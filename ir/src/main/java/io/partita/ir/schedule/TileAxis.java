package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Optional;

/**
 * One loop over tiles.
 *
 * @param name a short C identifier: {@code m}, {@code keys}
 * @param extent how many elements the axis has
 * @param tile how many of them a tile has; the last may have fewer
 * @param limit how many of the elements are looked at in this run, where that depends on a {@link
 *     TileExpression.Scalar}: tiles that begin behind it are left out, but for the first. The last
 *     tile that runs isn't made smaller by it
 * @param over where each core has tiles of its own, what they are dealt over: the first to the
 *     first row, column or core, and so on, again from there when all have one
 */
public record TileAxis(
    String name,
    long extent,
    long tile,
    Optional<TileExpression> limit,
    Optional<CoreGrid.Axis> over) {
  public TileAxis {
    if (extent < 1 || tile < 1 || tile > extent) {
      throw new IllegalArgumentException(name + ": tiles of " + tile + " of " + extent);
    }
  }

  public TileAxis(String name, long extent, long tile) {
    this(name, extent, tile, Optional.empty(), Optional.empty());
  }

  /** How many tiles there are at most. */
  public long count() {
    return Math.ceilDiv(extent, tile);
  }
}
