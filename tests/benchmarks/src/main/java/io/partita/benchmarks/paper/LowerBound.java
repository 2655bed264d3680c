package io.partita.benchmarks.paper;

import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Topology;
import java.util.stream.IntStream;

/**
 * A time in cycles below which a block can't be run on so many chips with these kernels and links.
 * Matrices and caches are read once, kernels, which depend on each other, run one after the other
 * at the rates that they reach alone, and a chip sends its share of the messages; all three at the
 * same time. What no other work can hide are the ways of the last messages of each exchange: the
 * next product depends on all chips.
 *
 * @param weights the cycles of the DMA for a chip's part of the matrices and of the cache
 * @param kernels the cycles of a chip's kernels
 * @param links the cycles of a link for the bytes that a chip sends
 * @param ways the cycles of the ways of messages
 */
record LowerBound(double weights, double kernels, double links, double ways) {
  /** The sums over chips of a block: after attention and after the network. */
  private static final int SUMS = 2;

  /** As many chips as any run has; fewer are linked as the first ones of these are. */
  private static final Topology CHIPS = Topology.of(TargetLibrary.find("siracusa:chips=64"));

  /** Returns the bound for a measured run. */
  static LowerBound of(BlockRun block) {
    Run run = block.run();
    return new LowerBound(
        (double) (block.weights() + block.workload().cache()) / run.chips() / Siracusa.DMA_RATE,
        run.kernels(),
        (double) run.moved().link() / run.chips() / Siracusa.LINK_RATE,
        exchanges(block) * way(together(block)));
  }

  /** The cycles that a block takes at least. */
  double cycles() {
    return Math.max(Math.max(weights, kernels), links) + ways;
  }

  /** The chips with which each exchanges: all, or those of its group. */
  private static int together(BlockRun block) {
    int chips = block.run().chips();
    return block.copies() == chips ? chips : chips / block.copies();
  }

  /** Exchanges that depend on each other: without sums on all chips, operands are gathered, too. */
  private static int exchanges(BlockRun block) {
    return block.strategy().contains("norm=") ? 2 * SUMS : SUMS;
  }

  /** The cycles of a message between the chips that are the farthest from each other. */
  private static double way(int chips) {
    int hops =
        IntStream.range(0, chips)
            .flatMap(one -> IntStream.range(0, chips).map(other -> hops(one, other)))
            .max()
            .orElse(0);
    return hops * Siracusa.LINK_LATENCY + 2 * Siracusa.MESSAGE;
  }

  /** The links between two chips. */
  static int hops(int one, int other) {
    return CHIPS.route(one, other).size();
  }
}
