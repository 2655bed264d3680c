package io.partita.cli;

import java.util.Locale;

/** Formats quantities for people: three or four digits, and a suitable unit. */
final class Figures {
  private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB"};
  private static final String[] SMALL = {"", "m", "u", "n", "p"};

  private Figures() {}

  /** {@code 512 B}, {@code 20.3 KiB}. */
  static String bytes(long number) {
    if (number < 10_000) {
      return number + " B";
    }
    double scaled = number;
    int unit = 0;
    while (scaled >= 1000 && unit + 1 < BYTES.length) {
      scaled /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", scaled, BYTES[unit]);
  }

  static String seconds(double number) {
    return small(number, "s");
  }

  static String joules(double number) {
    return small(number, "J");
  }

  private static String small(double number, String unit) {
    double scaled = number;
    int prefix = 0;
    while (scaled != 0 && Math.abs(scaled) < 0.9995 && prefix + 1 < SMALL.length) {
      scaled *= 1000;
      prefix++;
    }
    return digits(scaled) + " " + (scaled == 0 ? "" : SMALL[prefix]) + unit;
  }

  /** {@code 1.6x}. */
  static String times(double factor) {
    return digits(factor) + "x";
  }

  private static String digits(double number) {
    String form = number >= 99.95 ? "%.0f" : number >= 9.995 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, number == 0 ? "%.0f" : form, number);
  }
}
