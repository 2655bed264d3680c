package io.partita.benchmarks.device;

import java.time.Duration;
import java.util.Locale;

/** Says which of several programs is next, and how long its simulation should take. */
final class Progress {
  /** How many times as long a simulation may take on a busy computer. */
  static final int MARGIN = 10;

  /** Simulated cycles a second of one chip: measured, all cores busy. */
  private static final double SPEED = 3.6e6;

  /** The slowdown with each doubling of the chips, between 2 (the same work) and 4. */
  private static final double SLOWDOWN = 2.6;

  /** A program runs twice. */
  private static final int RUNS = 2;

  private final int total;
  private int done;

  /**
   * @param total the number of programs
   */
  Progress(int total) {
    this.total = total;
  }

  /** Announces a program and returns the estimated duration of its simulation. */
  Duration next(String name, int chips, long cycles) {
    done++;
    double speed = SPEED / Math.pow(SLOWDOWN, Math.log(chips) / Math.log(2));
    Duration estimate = Duration.ofSeconds(Math.round(RUNS * cycles / speed));
    System.err.printf(
        Locale.ROOT,
        "[%d/%d] %s, %,d cycles, some %d s to simulate: ",
        done,
        total,
        name,
        cycles,
        estimate.toSeconds());
    return estimate;
  }

  /** States why a program isn't run. */
  void skip(String what) {
    done++;
    System.err.printf(Locale.ROOT, "[%d/%d] %s%n", done, total, what);
  }
}
