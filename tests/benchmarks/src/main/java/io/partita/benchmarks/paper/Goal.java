package io.partita.benchmarks.paper;

import java.util.Locale;
import java.util.Optional;

/**
 * A figure beside the one that was aimed at.
 *
 * @param paper what others publish; may be empty
 * @param value empty if it wasn't measured
 * @param ceiling whether smaller is better
 * @param bounds what bounds it, by counters; may be empty
 * @param whole whether all was measured that the figure is of; else it isn't met
 */
record Goal(
    String what,
    String unit,
    double bound,
    boolean ceiling,
    String paper,
    Optional<Double> value,
    String bounds,
    boolean whole) {

  static Goal atMost(
      double bound, String unit, String what, String paper, Optional<Double> value, String bounds) {
    return new Goal(what, unit, bound, true, paper, value, bounds, true);
  }

  static Goal atLeast(
      double bound, String unit, String what, String paper, Optional<Double> value, String bounds) {
    return new Goal(what, unit, bound, false, paper, value, bounds, true);
  }

  /** A figure to be seen beside others, not a goal. */
  static Goal none(String what, String paper, Optional<Double> value, String bounds) {
    return new Goal(what, "", Double.NaN, false, paper, value, bounds, true);
  }

  /** The same figure, of a part of what it should be of. */
  Goal inPart() {
    return new Goal(what, unit, bound, ceiling, paper, value, bounds, false);
  }

  private boolean isGoal() {
    return !Double.isNaN(bound);
  }

  boolean isMet() {
    return whole && value.filter(found -> ceiling ? found <= bound : found >= bound).isPresent();
  }

  String line() {
    String wanted = (ceiling ? "at most " : "at least ") + number(bound) + unit;
    String met = isMet() ? "yes" : value.isPresent() ? "**no**" : "";
    return String.format(
        Locale.ROOT,
        "| %s | %s | %s | %s | %s | %s |",
        what,
        isGoal() ? wanted : "",
        paper,
        value.map(found -> number(found) + unit).orElse("not measured"),
        isGoal() ? met : "",
        isMet() || value.isEmpty() ? "" : bounds);
  }

  /** Three digits, as far as they are needed. */
  static String number(double value) {
    if (value >= 100) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    String text =
        String.format(Locale.ROOT, value >= 10 ? "%.1f" : value >= 1 ? "%.2f" : "%.3f", value);
    return text.replaceFirst("\\.?0+$", "");
  }
}
