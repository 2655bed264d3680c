package io.partita.passes.program.collective;

import io.partita.ir.mesh.Algorithm;

/** Makes schedules. */
public final class Schedules {
  private Schedules() {}

  /** Any collective by any algorithm; it has no deadlock even where channels hold no message. */
  public static Schedule of(Collective collective, Algorithm algorithm) {
    return of(collective, algorithm, 0);
  }

  /**
   * @param capacity messages that each channel holds. Where that's at least one, devices send
   *     before they receive, so that all links work at once.
   */
  public static Schedule of(Collective collective, Algorithm algorithm, int capacity) {
    return switch (algorithm) {
      case Algorithm.Tree(int group) -> TreeSchedules.of(collective, group);
      case Algorithm.Ring() -> RingSchedules.of(collective, capacity > 0);
      case Algorithm.Direct() -> DirectSchedules.of(collective, capacity > 0);
    };
  }
}
