package io.partita.passes.schedule;

import io.partita.ir.schedule.Packing;
import java.util.OptionalLong;

/**
 * @param workingBytes the bytes of the working memory that loops may use, instead of those of the
 *     target
 * @param doubleBuffer whether tiles are copied between it and the home memory while cores compute
 *     others
 * @param prefetch whether weights are fetched from a farther memory, or copied to the working one,
 *     before the loop that uses them
 * @param nearValues whether small values are kept in the working memory between loops
 * @param overlap whether exchanges begin early, and are cut into parts, so that messages travel
 *     while chips compute; it is decided before programs are scheduled
 * @param leastTraffic whether placements that load the fewest bytes from a farther memory are
 *     chosen, those of blocks least of all, instead of the fastest ones
 * @param weights how the constant weights of linear layers are stored on chips whose kernels unpack
 *     them
 */
public record SchedulerOptions(
    OptionalLong workingBytes,
    boolean doubleBuffer,
    boolean prefetch,
    boolean nearValues,
    boolean overlap,
    boolean leastTraffic,
    Packing weights) {
  public static final SchedulerOptions STANDARD =
      new SchedulerOptions(OptionalLong.empty(), true, true);

  public SchedulerOptions(OptionalLong workingBytes, boolean doubleBuffer, boolean prefetch) {
    this(workingBytes, doubleBuffer, prefetch, true, true, false, Packing.PLAIN);
  }

  /** Returns the same options for another working memory. */
  public SchedulerOptions withWorkingBytes(long bytes) {
    return new SchedulerOptions(
        OptionalLong.of(bytes), doubleBuffer, prefetch, nearValues, overlap, leastTraffic, weights);
  }

  /** Returns the same options with another choice of placements. */
  public SchedulerOptions withLeastTraffic(boolean least) {
    return new SchedulerOptions(
        workingBytes, doubleBuffer, prefetch, nearValues, overlap, least, weights);
  }

  /** Returns the same options for weights that are stored otherwise. */
  public SchedulerOptions withWeights(Packing packing) {
    return new SchedulerOptions(
        workingBytes, doubleBuffer, prefetch, nearValues, overlap, leastTraffic, packing);
  }
}
