package io.partita.passes.program.collective;

import io.partita.ir.mesh.Algorithm;

/** Makes schedules. */
public final class Schedules {
  private Schedules() {}

  /**
   * Returns a schedule for any collective and algorithm, which has no deadlock even if channels
   * hold no message.
   */
  public static Schedule of(Collective collective, Algorithm algorithm) {
    return of(collective, algorithm, 0);
  }

  /**
   * @param capacity the number of messages that each channel holds. With at least one, devices send
   *     before they receive, so that all links work in parallel.
   */
  public static Schedule of(Collective collective, Algorithm algorithm, int capacity) {
    return switch (algorithm) {
      case Algorithm.Tree tree -> TreeSchedules.of(collective, tree, capacity > 0);
      case Algorithm.Ring() -> RingSchedules.of(collective, capacity > 0);
      case Algorithm.Direct() -> DirectSchedules.of(collective, capacity > 0);
      case Algorithm.Hierarchical groups -> DirectSchedules.of(collective, groups, capacity > 0);
    };
  }
}
