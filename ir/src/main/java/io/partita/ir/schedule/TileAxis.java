package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Optional;

/**
 * An axis of a loop over tiles.
 *
 * @param name a short C identifier: {@code m}, {@code keys}
 * @param extent the number of elements
 * @param tile the number of elements of a tile; the last one may have fewer
 * @param limit the number of elements that a run processes, if it depends on a {@link
 *     TileExpression.Scalar}: tiles that begin after it are skipped, except the first. The last
 *     tile that runs keeps its size
 * @param over if cores have private tiles, the direction of the grid over which they are
 *     distributed round-robin
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

  /** Returns the largest number of tiles. */
  public long count() {
    return Math.ceilDiv(extent, tile);
  }
}
