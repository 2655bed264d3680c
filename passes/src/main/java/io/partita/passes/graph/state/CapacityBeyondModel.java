package io.partita.passes.graph.state;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.PassCode;

/** A KV cache would have more positions than the model. */
public final class CapacityBeyondModel extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final long positions;
  private final String found;

  /**
   * @param positions the first position beyond those of the model, counted from 0
   * @param found the failure at this position
   */
  CapacityBeyondModel(long positions, String found) {
    super("position " + positions + ": " + found, null, false, false);
    this.positions = positions;
    this.found = found;
  }

  /** The largest known valid number of positions of a cache. */
  public long positions() {
    return positions;
  }

  /** The failure at the first position beyond those of the model. */
  String found() {
    return found;
  }

  /**
   * @param remedy how the user requests fewer positions
   */
  public PartitaException diagnosed(String remedy) {
    return new PartitaException(
        PassCode.CAPACITY_BEYOND_MODEL,
        "position " + positions,
        "a mask and positions for every position of the cache",
        found,
        remedy);
  }
}
