package io.partita.ir.function;

import io.partita.ir.type.ElementType;
import java.util.Locale;

/** How elements along axes are reduced to one, or the terms of a partial value to the whole. */
public enum ReductionKind {
  /** Integers wrap, so that the sum doesn't depend on the order. */
  SUM(BinaryFunction.ADD, 0, true),
  MAX(BinaryFunction.MAX, Double.NEGATIVE_INFINITY, true),
  MIN(BinaryFunction.MIN, Double.POSITIVE_INFINITY, true),
  /** Sums of low-precision floats are kept in a wider type and rounded once. */
  MEAN(BinaryFunction.ADD, 0, false),
  PRODUCT(BinaryFunction.MUL, 1, false);

  private final BinaryFunction function;
  private final double identity;
  private final boolean joinsTerms;

  ReductionKind(BinaryFunction function, double identity, boolean joinsTerms) {
    this.function = function;
    this.identity = identity;
    this.joinsTerms = joinsTerms;
  }

  /** Joins two elements; a mean divides the result by their number. */
  public BinaryFunction function() {
    return function;
  }

  /** The result for no elements; infinite for the largest and smallest. */
  public double identity() {
    return identity;
  }

  /** The result for no elements of an integer type. */
  public long identity(ElementType element) {
    if (Double.isInfinite(identity)) {
      return identity < 0 ? element.minimum() : element.maximum();
    }
    return (long) identity;
  }

  /** Whether devices may hold the terms of a value of this kind. */
  public boolean joinsTerms() {
    return joinsTerms;
  }

  /**
   * Whether a value joined with itself is itself, so that a whole value may stand for each term.
   */
  public boolean isIdempotent() {
    return this == MAX || this == MIN;
  }

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
