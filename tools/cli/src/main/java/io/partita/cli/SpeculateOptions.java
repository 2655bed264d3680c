package io.partita.cli;

import picocli.CommandLine.Option;

/** The option for attention-level speculation between two halves of the devices. */
final class SpeculateOptions {
  @Option(
      names = "--speculate",
      paramLabel = "lambda=L,chunk=C",
      description =
          "With --devices N: let half of the devices run ahead on an approximate attention, of the"
              + " first and the last C tokens, and take their result where it is within L of the"
              + " exact attention, relative to its L2 norm. With guess=sent after C, the other half"
              + " computes the approximation and sends it.")
  String text;

  /** States the predicted time of a run. */
  static String latency(double hits, double misses) {
    return "predicted latency: %s if every attention hits, %s if every one misses"
        .formatted(Figures.seconds(hits), Figures.seconds(misses));
  }
}
