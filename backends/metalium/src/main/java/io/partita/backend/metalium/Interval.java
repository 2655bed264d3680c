package io.partita.backend.metalium;

import java.util.function.DoubleUnaryOperator;

/** Numbers from {@code low} to {@code high}. */
record Interval(double low, double high) {
  static final Interval ZERO = new Interval(0, 0);

  static Interval of(double number) {
    return new Interval(number, number);
  }

  Interval plus(Interval other) {
    return new Interval(low + other.low, high + other.high);
  }

  Interval minus(Interval other) {
    return new Interval(low - other.high, high - other.low);
  }

  Interval times(Interval other) {
    double a = low * other.low;
    double b = low * other.high;
    double c = high * other.low;
    double d = high * other.high;
    return new Interval(
        Math.min(Math.min(a, b), Math.min(c, d)), Math.max(Math.max(a, b), Math.max(c, d)));
  }

  Interval max(Interval other) {
    return new Interval(Math.max(low, other.low), Math.max(high, other.high));
  }

  /** The images of numbers by a function that keeps their order. */
  Interval map(DoubleUnaryOperator increasing) {
    return new Interval(increasing.applyAsDouble(low), increasing.applyAsDouble(high));
  }

  /** Likewise, by a function that reverses it. */
  Interval mapReversed(DoubleUnaryOperator decreasing) {
    return new Interval(decreasing.applyAsDouble(high), decreasing.applyAsDouble(low));
  }

  double magnitude() {
    return Math.max(Math.abs(low), Math.abs(high));
  }

  /** All numbers that are at most so far away. */
  Interval widened(double distance) {
    return new Interval(low - distance, high + distance);
  }

  /** Likewise, relative to each number. */
  Interval widenedBy(double share) {
    return new Interval(low - share * Math.abs(low), high + share * Math.abs(high));
  }
}
