package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.Product;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Factors that move the outliers of features into the rows of matrices: {@code s = max|x|^a /
 * max|w|^(1 - a)} for each feature (SmoothQuant, arXiv:2211.10438, equation 4).
 */
final class Smoothing {
  /** Factors beyond this range would only amplify features that are nearly constant. */
  private static final double LARGEST = 1e4;

  private Smoothing() {}

  /**
   * @param extents the features of the input
   * @param readers the products of the input
   * @param strength the exponent a, from 0 to 1
   */
  static double[] factors(FeatureExtents extents, List<Product> readers, double strength) {
    double[] factors = new double[extents.low().length];
    double[] rows = new double[factors.length];
    for (Product product : readers) {
      float[] matrix = product.matrix(Optional.empty());
      for (int i = 0; i < matrix.length; i++) {
        int row = i / product.columns();
        rows[row] = Math.max(rows[row], Math.abs(matrix[i]));
      }
    }
    for (int i = 0; i < factors.length; i++) {
      double feature = extents.magnitude(i);
      double factor = Math.pow(feature, strength) / Math.pow(rows[i], 1 - strength);
      factors[i] = feature > 0 && rows[i] > 0 ? factor : 1;
    }
    double mean = Math.exp(Arrays.stream(factors).map(Math::log).average().orElseThrow());
    for (int i = 0; i < factors.length; i++) {
      factors[i] = Math.clamp(factors[i] / mean, 1 / LARGEST, LARGEST);
    }
    return factors;
  }
}
