package io.partita.passes.planning.residency;

/** Where the weights of a device are, the best first. */
public enum WeightPlace {
  /** All of them stay in the on-chip memory. */
  ON_CHIP("all on chip"),
  /** Those of blocks stay; the others, such as a vocabulary's, come in tiles or by rows. */
  BLOCKS_ON_CHIP("those of blocks on chip"),
  /** Those of a block are loaded while the block before it runs. */
  BLOCK_AHEAD("loaded one block ahead"),
  /** They come in tiles, as kernels use them. */
  IN_TILES("loaded tile by tile");

  private final String text;

  WeightPlace(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
