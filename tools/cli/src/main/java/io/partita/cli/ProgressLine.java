package io.partita.cli;

import java.time.Duration;

/** The line that shows the current step, the seconds since it began, and the time that remains. */
final class ProgressLine {
  /** Estimates from a smaller part of the work, or from a shorter time, would jump. */
  private static final double LEAST_SHARE = 0.02;

  private static final Duration LEAST_TIME = Duration.ofSeconds(1);
  private static final long MANY_SECONDS = 120;

  private final String step;
  private final long since;
  private final Estimate estimate;

  /**
   * What is known of the remaining time.
   *
   * @param begun when work of known extent began
   * @param end when it will probably end; the beginning if that isn't known
   */
  private record Estimate(long begun, long end) {}

  private ProgressLine(String step, long since, Estimate estimate) {
    this.step = step;
    this.since = since;
    this.estimate = estimate;
  }

  /**
   * @param now as {@link System#nanoTime}
   */
  static ProgressLine start(String step, long now) {
    return new ProgressLine(step, now, new Estimate(now, now));
  }

  /** Returns the line of another step; the same one if it goes on. */
  ProgressLine step(String next, long now) {
    return next.equals(step) ? this : new ProgressLine(next, now, estimate);
  }

  /** Returns the line after a share of the work, from 0 to 1. */
  ProgressLine share(double done, long now) {
    long begun = done == 0 ? now : estimate.begun;
    long spent = now - begun;
    boolean isKnown = done >= LEAST_SHARE && done < 1 && spent >= LEAST_TIME.toNanos();
    return new ProgressLine(
        step, since, new Estimate(begun, isKnown ? begun + (long) (spent / done) : begun));
  }

  String step() {
    return step;
  }

  /** Returns the seconds since the step began. */
  long seconds(long now) {
    return Duration.ofNanos(now - since).toSeconds();
  }

  String text(long now) {
    return step + "… " + seconds(now) + " s" + remaining(now);
  }

  /** Says nothing when the time is over that was estimated. */
  private String remaining(long now) {
    if (estimate.end <= now) {
      return "";
    }
    long seconds = Math.ceilDiv(estimate.end - now, Duration.ofSeconds(1).toNanos());
    return ", about "
        + (seconds < MANY_SECONDS ? seconds + " s" : Math.ceilDiv(seconds, 60) + " min")
        + " left";
  }
}
