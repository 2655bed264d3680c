package io.partita.tests.latency;

import java.util.List;

/**
 * A row of table 4 of ASTRA: how many times as long baselines take as ASTRA with one group, on 4
 * devices with 1024 tokens.
 *
 * @param megabits a second
 * @param gather block parallelism with all-gather, N_b = 1
 * @param blockSequence block parallelism with sequence parallelism, N_b = 1
 */
record PublishedSpeedup(
    int megabits, double tensor, double sequence, double gather, double blockSequence) {
  static final int DEVICES = 4;
  static final int TOKENS = 1024;

  /** The row to which the rate of products and the bytes of tensor parallelism are fitted. */
  static final int FITTED_MEGABITS = 100;

  static final List<PublishedSpeedup> TABLE_4 =
      List.of(
          new PublishedSpeedup(10, 342.74, 171.82, 15.25, 29.37),
          new PublishedSpeedup(20, 177.89, 89.41, 8.41, 15.66),
          new PublishedSpeedup(50, 73.14, 37.05, 4.07, 6.95),
          new PublishedSpeedup(100, 37.19, 19.08, 2.58, 3.96),
          new PublishedSpeedup(200, 19.02, 9.99, 1.83, 2.45),
          new PublishedSpeedup(500, 8.05, 4.51, 1.37, 1.53));

  /** A speedup over one device that the paper's text states. */
  record Statement(
      LatencyMethod method, int devices, int tokens, int megabits, double speedup, String place) {}

  static final List<Statement> STATEMENTS =
      List.of(
          new Statement(LatencyMethod.VECTOR_1, 4, 1024, 10, 2.64, "abstract; 2.65 in 4.3"),
          new Statement(LatencyMethod.VECTOR_16, 4, 1024, 10, 1.26, "4.3"),
          new Statement(LatencyMethod.VECTOR_1, 4, 1024, 20, 2.74, "4.3"),
          new Statement(LatencyMethod.VECTOR_32, 4, 1024, 20, 1.27, "4.3"),
          new Statement(LatencyMethod.VECTOR_1, 2, 1024, 20, 1.72, "4.3, device counts"),
          new Statement(LatencyMethod.VECTOR_1, 8, 1024, 20, 3.69, "4.3, device counts"),
          new Statement(
              LatencyMethod.VECTOR_1, 4, 512, 20, 1.98, "4.3, token lengths; G not stated"));
}
