package io.partita.passes.planning.search;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What a plan is to have as little of as it can. */
public enum Goal {
  /** Seconds of one run. */
  LATENCY,
  /** Joules of one run, on all devices. */
  ENERGY;

  /** As options write it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<Goal> of(String text) {
    return Arrays.stream(values()).filter(goal -> goal.text().equals(text)).findFirst();
  }

  /** The figure that counts. */
  double of(double seconds, double joules) {
    return switch (this) {
      case LATENCY -> seconds;
      case ENERGY -> joules;
    };
  }
}
