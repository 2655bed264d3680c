package io.partita.driver.cases;

import io.partita.ir.tensor.Tensor;

/**
 * The difference of two tensors of the same shape; both figures are infinite if only one tensor has
 * a NaN or an infinity.
 *
 * @param largest the largest difference of any element
 * @param rootMeanSquare the root mean square over all elements
 */
record Difference(double largest, double rootMeanSquare) {
  static final Difference NONE = new Difference(0, 0);

  static Difference of(Tensor left, Tensor right) {
    double largest = 0;
    double squares = 0;
    for (int i = 0; i < left.size(); i++) {
      double a = left.getDouble(i);
      double b = right.getDouble(i);
      double difference = Double.compare(a, b) == 0 ? 0 : Math.abs(a - b);
      if (Double.isNaN(difference)) {
        return new Difference(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);
      }
      largest = Math.max(largest, difference);
      squares += difference * difference;
    }
    return new Difference(largest, Math.sqrt(squares / Math.max(1, left.size())));
  }

  /** The larger of each figure. */
  Difference max(Difference other) {
    return new Difference(
        Math.max(largest, other.largest), Math.max(rootMeanSquare, other.rootMeanSquare));
  }

  Difference times(double factor) {
    return new Difference(factor * largest, factor * rootMeanSquare);
  }

  boolean isWithin(Difference bound) {
    return largest <= bound.largest && rootMeanSquare <= bound.rootMeanSquare;
  }
}
