package io.partita.benchmarks;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One measured figure.
 *
 * @param what the name of the figure
 * @param unit the unit of the value and the bound, such as {@code s}
 * @param bound the bound of the value, or NaN
 * @param isCeiling whether the bound is an upper bound
 */
record Figure(String what, double value, String unit, double bound, boolean isCeiling) {
  static Figure atMost(String what, double value, String unit, double bound) {
    return new Figure(what, value, unit, bound, true);
  }

  static Figure atLeast(String what, double value, String unit, double bound) {
    return new Figure(what, value, unit, bound, false);
  }

  static Figure of(String what, double value, String unit) {
    return new Figure(what, value, unit, Double.NaN, true);
  }

  private boolean isMet() {
    return isCeiling ? value <= bound : value >= bound;
  }

  /** Returns a line of the table. */
  String line() {
    String wanted =
        Double.isNaN(bound)
            ? ""
            : String.format(
                Locale.ROOT,
                "%s %s %s: %s",
                isCeiling ? "at most" : "at least",
                number(bound),
                unit,
                isMet() ? "met" : "NOT MET");
    return String.format(Locale.ROOT, "%-64s %9s %-6s %s", what, number(value), unit, wanted)
        .stripTrailing();
  }

  private static String number(double value) {
    return Math.abs(value) < 0.01 && value != 0
        ? String.format(Locale.ROOT, "%.1e", value)
        : String.format(Locale.ROOT, "%.2f", value);
  }

  /** The fields of the figure's JSON object. */
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("what", what);
    fields.put("value", value);
    fields.put("unit", unit);
    if (!Double.isNaN(bound)) {
      fields.put(isCeiling ? "atMost" : "atLeast", bound);
      fields.put("met", isMet());
    }
    return fields;
  }
}
