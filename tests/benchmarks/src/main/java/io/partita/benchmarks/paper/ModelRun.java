package io.partita.benchmarks.paper;

/**
 * A token of a whole decoder.
 *
 * @param model the name in the zoo
 * @param bits the bits of a weight
 * @param leastTraffic whether it was compiled with {@code least_traffic=on}
 * @param blocks the bytes that all chips load from L3 for blocks, by the schedule
 * @param ends the bytes that all chips load for embedding and head
 * @param run null if it was only scheduled
 */
public record ModelRun(
    String model, int chips, int bits, boolean leastTraffic, long blocks, long ends, Run run) {}
