package io.partita.benchmarks.paper;

/**
 * A token of a whole decoder.
 *
 * @param model the name in the zoo
 * @param bits the bits of a weight
 * @param leastTraffic whether it was compiled with {@code least_traffic=on}
 * @param reserved the KiB of L2 that the target reserves for code, tables and data
 * @param blocks the bytes that all chips load from L3 for blocks, by the schedule
 * @param ends the bytes that all chips load for embedding and head
 * @param fromTokenToToken the cycles from the beginning of the second token to that of the third,
 *     with the time that recording takes, of the chip with most of them; 0 if only two were
 *     measured
 */
public record ModelRun(
    String model,
    int chips,
    int bits,
    boolean leastTraffic,
    int reserved,
    long blocks,
    long ends,
    Run run,
    long fromTokenToToken) {
  /** What the target reserves by default. */
  public static final int RESERVED = 128;

  boolean hasThreeTokens() {
    return fromTokenToToken > 0;
  }

  /** The cycles from token to token, as far as they are known from two tokens. */
  double interval() {
    return hasThreeTokens() ? fromTokenToToken : run.interval();
  }
}
