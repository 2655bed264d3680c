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
 */
public record ModelRun(
    String model,
    int chips,
    int bits,
    boolean leastTraffic,
    int reserved,
    long blocks,
    long ends,
    Run run) {
  /** What the target reserves by default. */
  public static final int RESERVED = 128;
}
