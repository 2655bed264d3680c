package io.partita.passes.planning.residency;

/** A kind of content of a memory. */
public enum Content {
  /** Weights that stay in the memory between runs. */
  WEIGHTS("weights"),
  /** Other constants: biases, scales, tables of positions. */
  TABLES("tables"),
  /** State between runs: KV caches. */
  STATES("KV"),
  /** Inputs and results of nodes, at their peak. */
  ACTIVATIONS("activations"),
  /** Buffers for weights that are fetched from a farther memory. */
  WEIGHT_BUFFERS("weight buffers"),
  /** Buffers for the tiles of kernels. */
  TILES("tiles");

  private final String text;

  Content(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
