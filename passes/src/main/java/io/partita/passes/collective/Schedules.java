package io.partita.passes.collective;

/** Makes schedules. */
public final class Schedules {
  private Schedules() {}

  /** Any collective by any algorithm; it has no deadlock even where channels hold no message. */
  public static Schedule of(Collective collective, Algorithm algorithm) {
    return switch (algorithm) {
      case Algorithm.Tree(int group) -> TreeSchedules.of(collective, group);
      case Algorithm.Ring() -> RingSchedules.of(collective);
      case Algorithm.Direct() -> DirectSchedules.of(collective);
    };
  }
}
