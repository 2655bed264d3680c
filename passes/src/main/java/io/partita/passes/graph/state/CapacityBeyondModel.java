package io.partita.passes.graph.state;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.PassCode;

/** A KV cache would have more positions than the model. */
public final class CapacityBeyondModel extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final long positions;
  private final String found;

  /**
   * @param positions the first position that the model doesn't have, counted from 0
   * @param found what fails there
   */
  CapacityBeyondModel(long positions, String found) {
    super("position " + positions + ": " + found, null, false, false);
    this.positions = positions;
    this.found = found;
  }

  /** The most positions that a cache may have, as far as that is known. */
  public long positions() {
    return positions;
  }

  /** What fails at the first position that the model doesn't have. */
  String found() {
    return found;
  }

  /**
   * @param remedy how to ask for fewer positions
   */
  public PartitaException diagnosed(String remedy) {
    return new PartitaException(
        PassCode.CAPACITY_BEYOND_MODEL,
        "position " + positions,
        "a mask and positions for each token that the cache has room for",
        found,
        remedy);
  }
}
