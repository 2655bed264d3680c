package io.partita.passes.schedule;

import java.util.OptionalLong;

/**
 * @param workingBytes the bytes of the working memory that loops may use, instead of those of the
 *     target
 * @param doubleBuffer whether tiles are copied between it and the home memory while cores compute
 *     others
 * @param prefetch whether weights are fetched from a farther memory before their first use
 */
public record SchedulerOptions(OptionalLong workingBytes, boolean doubleBuffer, boolean prefetch) {
  public static final SchedulerOptions STANDARD =
      new SchedulerOptions(OptionalLong.empty(), true, true);
}
