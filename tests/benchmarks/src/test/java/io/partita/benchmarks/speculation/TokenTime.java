package io.partita.benchmarks.speculation;

/**
 * The time of a token by the formulas of the paper's appendix F, in any unit of time.
 *
 * @param layers the number of layers
 * @param ends the time of the embedding and the head
 * @param layer the time of a layer without attention
 */
record TokenTime(int layers, double ends, double layer) {
  /**
   * Without speculation.
   *
   * @param attention the time of a layer's attention
   */
  double exact(double attention) {
    return ends + layers * (layer + attention);
  }

  /**
   * With speculation. When a layer hits, the rest of the layer starts with the approximate
   * attention and runs while the sender still computes the exact one; when it misses, the rest
   * follows the exact attention.
   *
   * @param hits the number of layers that hit
   * @param sender the time of the speculative flash decode on the sender
   * @param receiver the time until the receiver has the approximate attention
   */
  double speculative(double hits, double sender, double receiver) {
    double hit = receiver + Math.max(sender - receiver, layer);
    double miss = layer + sender;
    return ends + hits * hit + (layers - hits) * miss;
  }

  /** The number of layers that hit at a rate: whole layers, rounded down as in the paper. */
  double wholeHits(double rate) {
    return Math.floor(layers * rate);
  }
}
