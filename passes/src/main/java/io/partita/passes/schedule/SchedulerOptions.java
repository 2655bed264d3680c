package io.partita.passes.schedule;

import java.util.OptionalLong;

/**
 * @param workingBytes the bytes of the working memory that loops may use, instead of those of the
 *     target
 * @param doubleBuffer whether tiles are copied between it and the home memory while cores compute
 *     others
 * @param prefetch whether weights are fetched from a farther memory, or copied to the working one,
 *     before the loop that uses them
 * @param nearValues whether small values are kept in the working memory between loops
 */
public record SchedulerOptions(
    OptionalLong workingBytes, boolean doubleBuffer, boolean prefetch, boolean nearValues) {
  public static final SchedulerOptions STANDARD =
      new SchedulerOptions(OptionalLong.empty(), true, true, true);

  public SchedulerOptions(OptionalLong workingBytes, boolean doubleBuffer, boolean prefetch) {
    this(workingBytes, doubleBuffer, prefetch, true);
  }
}
