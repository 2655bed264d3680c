package io.partita.passes.schedule;

import java.util.OptionalLong;

/**
 * @param workingBytes how much of the memory that kernels work in loops may use, in place of what
 *     the target says
 * @param doubleBuffer whether tiles are copied between it and the home memory while the cores work
 *     on others
 * @param prefetch whether weights are fetched from a farther memory before they're needed
 */
public record SchedulerOptions(OptionalLong workingBytes, boolean doubleBuffer, boolean prefetch) {
  public static final SchedulerOptions STANDARD =
      new SchedulerOptions(OptionalLong.empty(), true, true);
}
