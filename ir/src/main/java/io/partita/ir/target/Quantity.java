package io.partita.ir.target;

import java.math.BigDecimal;

/**
 * A number with its unit, as it was written.
 *
 * @param number finite and not negative
 */
public record Quantity(double number, Unit unit) implements FigureValue {
  private static final double LARGEST_INTEGER = 1L << 53;

  public Quantity {
    if (!(number >= 0) || Double.isInfinite(number)) {
      throw new IllegalArgumentException("a quantity of " + number);
    }
    number += 0.0; // -0 becomes 0
  }

  /** In the base unit of the dimension. */
  public double value() {
    return unit.toBase(number);
  }

  public Dimension dimension() {
    return unit.dimension();
  }

  boolean isWhole() {
    double value = value();
    return value == Math.rint(value) && value <= LARGEST_INTEGER;
  }

  /** {@code 256 KiB}; reads back as the same. */
  @Override
  public String toString() {
    boolean whole = number == Math.rint(number) && number <= LARGEST_INTEGER;
    String digits = whole ? Long.toString((long) number) : decimal(number);
    return unit == Unit.ONE ? digits : digits + " " + unit.text();
  }

  private static String decimal(double number) {
    if (number >= 1e-6 && number < LARGEST_INTEGER) {
      return new BigDecimal(Double.toString(number)).toPlainString();
    }
    return Double.toString(number);
  }
}
