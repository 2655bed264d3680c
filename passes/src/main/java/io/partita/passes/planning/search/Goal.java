package io.partita.passes.planning.search;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The figure that a search minimises. */
public enum Goal {
  /** Seconds of one run. */
  LATENCY,
  /** Joules of one run, on all devices. */
  ENERGY;

  /** The value of the option. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<Goal> of(String text) {
    return Arrays.stream(values()).filter(goal -> goal.text().equals(text)).findFirst();
  }

  /** Returns the figure. */
  double of(double seconds, double joules) {
    return switch (this) {
      case LATENCY -> seconds;
      case ENERGY -> joules;
    };
  }
}
