package io.partita.ir.target;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number with its unit, as written.
 *
 * @param number a finite number, not negative
 */
public record Quantity(double number, Unit unit) implements FigureValue {
  private static final double MAX_INTEGER = 1L << 53;
  private static final Pattern TEXT = Pattern.compile("([0-9.]+(?:[eE]-?[0-9]+)?) *(.*)");

  public Quantity {
    if (!(number >= 0) || Double.isInfinite(number)) {
      throw new IllegalArgumentException("a quantity of " + number);
    }
    number += 0.0; // -0 becomes 0
  }

  /** Parses text such as {@code 8}, {@code 256 KiB} or {@code 20Mbps}; empty if invalid. */
  public static Optional<Quantity> parse(String text) {
    Matcher matcher = TEXT.matcher(text.strip());
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      double number = Double.parseDouble(matcher.group(1));
      return Double.isInfinite(number)
          ? Optional.empty()
          : Unit.of(matcher.group(2)).map(unit -> new Quantity(number, unit));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** Returns the number in the base unit of the dimension. */
  public double value() {
    return unit.toBase(number);
  }

  public Dimension dimension() {
    return unit.dimension();
  }

  boolean isWhole() {
    double value = value();
    return value == Math.rint(value) && value <= MAX_INTEGER;
  }

  /** Returns text such as {@code 256 KiB}, which parses to an equal quantity. */
  @Override
  public String toString() {
    boolean whole = number == Math.rint(number) && number <= MAX_INTEGER;
    String digits = whole ? Long.toString((long) number) : decimal(number);
    return unit == Unit.ONE ? digits : digits + " " + unit.text();
  }

  private static String decimal(double number) {
    if (number >= 1e-6 && number < MAX_INTEGER) {
      return new BigDecimal(Double.toString(number)).toPlainString();
    }
    return Double.toString(number);
  }
}
