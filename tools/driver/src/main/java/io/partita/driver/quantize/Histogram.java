package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.Affine;

/** Counts of the numbers of a value in equal parts of its range. */
final class Histogram {
  private static final int BINS = 2048;

  private final double low;
  private final double high;
  private final long[] counts = new long[BINS];

  /**
   * @param low the least number
   * @param high the largest number, above {@code low} or equal
   */
  Histogram(double low, double high) {
    this.low = low;
    this.high = high;
  }

  double low() {
    return low;
  }

  double high() {
    return high;
  }

  void add(double value) {
    double place = high == low ? 0 : (value - low) / (high - low) * BINS;
    counts[Math.clamp((long) place, 0, BINS - 1)]++;
  }

  /** Adds the counts of a histogram of the same range. */
  Histogram plus(Histogram other) {
    for (int i = 0; i < BINS; i++) {
      counts[i] += other.counts[i];
    }
    return this;
  }

  private double middle(int bin) {
    return low + (bin + 0.5) / BINS * (high - low);
  }

  /** The number below which a part of all numbers lies. */
  double quantile(double part) {
    long all = 0;
    for (long count : counts) {
      all += count;
    }
    double wanted = part * all;
    long below = 0;
    for (int i = 0; i < BINS; i++) {
      below += counts[i];
      if (below >= wanted && below > 0) {
        return part < 0.5 ? low + (double) i / BINS * (high - low) : edge(i + 1);
      }
    }
    return high;
  }

  private double edge(int bin) {
    return low + (double) bin / BINS * (high - low);
  }

  /** The sum of squared differences between the numbers and their codes. */
  double squaredError(Affine code) {
    double error = 0;
    for (int i = 0; i < BINS; i++) {
      if (counts[i] > 0) {
        double value = middle(i);
        double delta = code.rounded(value) - value;
        error += counts[i] * delta * delta;
      }
    }
    return error;
  }
}
