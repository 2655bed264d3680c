package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.ir.tensor.Tensor;
import java.util.Arrays;

/**
 * The least and the largest number of each feature of a value.
 *
 * @param low {@code [features]}
 * @param high {@code [features]}
 */
record FeatureExtents(double[] low, double[] high) {
  /**
   * @param value {@code [..., features]}
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#RANGE} if it has
   *     numbers that aren't finite
   */
  static FeatureExtents of(String name, Tensor value) {
    int features = (int) value.shape().fromEnd(0).value();
    double[] low = new double[features];
    double[] high = new double[features];
    Arrays.fill(low, Double.POSITIVE_INFINITY);
    Arrays.fill(high, Double.NEGATIVE_INFINITY);
    for (int i = 0; i < value.size(); i++) {
      double number = value.getDouble(i);
      if (!Double.isFinite(number)) {
        throw QuantizeCode.RANGE.at(
            "value \"" + name + "\"",
            "finite numbers on all calibration data",
            number,
            "check the calibration data and its --mean and --std, and that the float model works");
      }
      low[i % features] = Math.min(low[i % features], number);
      high[i % features] = Math.max(high[i % features], number);
    }
    return new FeatureExtents(low, high);
  }

  /**
   * Returns these extents if they are a range.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#RANGE} if not
   */
  FeatureExtents verified(String name) {
    if (least() == 0 && most() == 0) {
      throw QuantizeCode.RANGE.at(
          "value \"" + name + "\"",
          "numbers other than 0 on the calibration data",
          "only 0",
          "calibrate with more varied data, or leave what reads it float with --float");
    }
    return this;
  }

  FeatureExtents joined(FeatureExtents other) {
    double[] least = low.clone();
    double[] most = high.clone();
    for (int i = 0; i < least.length; i++) {
      least[i] = Math.min(least[i], other.low[i]);
      most[i] = Math.max(most[i], other.high[i]);
    }
    return new FeatureExtents(least, most);
  }

  /** The extents after dividing each feature by a positive factor. */
  FeatureExtents divided(double[] factors) {
    double[] least = low.clone();
    double[] most = high.clone();
    for (int i = 0; i < least.length; i++) {
      least[i] /= factors[i];
      most[i] /= factors[i];
    }
    return new FeatureExtents(least, most);
  }

  /** The largest magnitude of a feature. */
  double magnitude(int feature) {
    return Math.max(Math.abs(low[feature]), Math.abs(high[feature]));
  }

  double least() {
    return Arrays.stream(low).min().orElse(0);
  }

  double most() {
    return Arrays.stream(high).max().orElse(0);
  }
}
