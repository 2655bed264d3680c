package io.partita.passes.planning.residency;

/** What takes room in a memory. */
public enum Content {
  /** Weights that stay there from run to run. */
  WEIGHTS("weights"),
  /** Other constants: biases, scales, tables of positions. */
  TABLES("tables"),
  /** What lives from run to run: KV caches. */
  STATES("KV"),
  /** Inputs, and what nodes compute, at the moment when most of it is needed. */
  ACTIVATIONS("activations"),
  /** Places for weights that are on their way from a farther memory. */
  WEIGHT_BUFFERS("weight buffers"),
  /** Places for the tiles that the cores work on. */
  TILES("tiles");

  private final String text;

  Content(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
