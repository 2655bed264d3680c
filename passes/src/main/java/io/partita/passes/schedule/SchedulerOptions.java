package io.partita.passes.schedule;

import java.util.OptionalLong;

/**
 * @param l1Bytes how much of L1 loops may use, in place of what the target says
 * @param doubleBuffer whether tiles are copied between L2 and L1 while the cores work on others
 * @param prefetch whether weights are fetched from L3 before they're needed
 */
public record SchedulerOptions(OptionalLong l1Bytes, boolean doubleBuffer, boolean prefetch) {
  public static final SchedulerOptions STANDARD =
      new SchedulerOptions(OptionalLong.empty(), true, true);
}
