package io.partita.benchmarks.paper;

/**
 * A block that can't be compiled for so many chips.
 *
 * @param reason what was expected and found
 */
public record Misfit(Workload workload, int chips, String reason) {}
