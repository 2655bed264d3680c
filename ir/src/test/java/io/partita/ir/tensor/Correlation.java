package io.partita.ir.tensor;

import java.util.Arrays;

/** Pearson's correlation coefficient of two lists of numbers: 1 if they are equal. */
public final class Correlation {
  private Correlation() {}

  /** Returns the coefficient of lists of the same length. */
  public static double of(double[] one, double[] other) {
    double meanOne = Arrays.stream(one).average().orElseThrow();
    double meanOther = Arrays.stream(other).average().orElseThrow();
    double product = 0;
    double squareOne = 0;
    double squareOther = 0;
    for (int i = 0; i < one.length; i++) {
      product += (one[i] - meanOne) * (other[i] - meanOther);
      squareOne += Math.pow(one[i] - meanOne, 2);
      squareOther += Math.pow(other[i] - meanOther, 2);
    }
    return product / Math.sqrt(squareOne * squareOther);
  }
}
