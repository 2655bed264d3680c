package io.partita.benchmarks.paper;

/** Goals for the times of blocks. */
enum TimeGoal {
  TOKEN(
      Workload.AUTOREGRESSIVE,
      8,
      0.15,
      "TinyLlama block, token, 8 chips, weights on chips",
      "0.54 ms"),
  PROMPT(Workload.PROMPT, 8, 0.9, "TinyLlama block, 16 tokens, 8 chips", ""),
  MOBILEBERT(Workload.MOBILEBERT, 4, 16, "MobileBERT block, 4 chips", "38.8 ms"),
  TOKEN_64(
      Workload.AUTOREGRESSIVE_64, 64, 0.13, "TinyLlama block with 64 heads, token, 64 chips", "");

  private final Workload workload;
  private final int chips;
  private final double milliseconds;
  private final String what;
  private final String paper;

  TimeGoal(Workload workload, int chips, double milliseconds, String what, String paper) {
    this.workload = workload;
    this.chips = chips;
    this.milliseconds = milliseconds;
    this.what = what;
    this.paper = paper;
  }

  Workload workload() {
    return workload;
  }

  int chips() {
    return chips;
  }

  /** The most that the block may take. */
  double milliseconds() {
    return milliseconds;
  }

  String what() {
    return what;
  }

  /** What the paper publishes; may be empty. */
  String paper() {
    return paper;
  }
}
