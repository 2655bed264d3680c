package io.partita.passes.planning.residency;

/** The placement of the weights of a device, the best first. */
public enum WeightPlace {
  /** All of them stay in the on-chip memory. */
  ON_CHIP("all on chip"),
  /**
   * The weights of blocks stay on chip; others, such as those of a vocabulary, are fetched in tiles
   * or rows.
   */
  BLOCKS_ON_CHIP("those of blocks on chip"),
  /** The weights of a block are loaded while the previous block runs. */
  BLOCK_AHEAD("loaded one block ahead"),
  /** Weights are fetched in tiles as kernels use them. */
  IN_TILES("loaded tile by tile");

  private final String text;

  WeightPlace(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
