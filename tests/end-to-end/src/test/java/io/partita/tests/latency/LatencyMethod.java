package io.partita.tests.latency;

/** A way to run the encoder on several devices. */
enum LatencyMethod {
  /** Weights are split: two all-reduces a layer. */
  TENSOR("TP", "tensor", 0),
  /** Tokens are split, and each layer gathers them exactly. */
  SEQUENCE("SP", "sequence", 0),
  /** Tokens are split, and travel as one index. */
  VECTOR_1("ASTRA, G=1", "sequence", 1),
  VECTOR_16("ASTRA, G=16", "sequence", 16),
  VECTOR_32("ASTRA, G=32", "sequence", 32);

  private final String text;
  private final String strategy;
  private final int groups;

  LatencyMethod(String text, String strategy, int groups) {
    this.text = text;
    this.strategy = strategy;
    this.groups = groups;
  }

  String text() {
    return text;
  }

  /** The strategy of {@code --strategy}. */
  String strategy(int devices) {
    return strategy + "=" + devices;
  }

  /** The groups of features with an index each; 0 if tokens don't travel as indices. */
  int groups() {
    return groups;
  }
}
