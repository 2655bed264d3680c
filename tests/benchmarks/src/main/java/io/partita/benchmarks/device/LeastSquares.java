package io.partita.benchmarks.device;

import java.util.Arrays;
import java.util.List;

/**
 * Finds the figures x ≥ 0 that minimise the relative errors {@code Σ (a x / y - 1)²} of measured y
 * by coordinate descent, beginning with the last figure. Figures that the rows can't tell apart
 * stay near what they were.
 */
final class LeastSquares {
  private static final int SWEEPS = 20_000;

  /** The weight of regularisation, which divides indistinguishable figures evenly. */
  private static final double RIDGE = 1e-9;

  /** The weight of what a figure was: that of a thousandth of a row that it makes up. */
  private static final double KEEP = 1e-3;

  private LeastSquares() {}

  static double[] solve(List<double[]> rows, List<Double> measured) {
    double[] none = new double[rows.getFirst().length];
    Arrays.fill(none, Double.NaN);
    return solve(rows, measured, none);
  }

  /**
   * @param before what the figures were; NaN if that isn't known
   */
  static double[] solve(List<double[]> rows, List<Double> measured, double[] before) {
    int count = rows.getFirst().length;
    double[] scale = new double[count];
    for (int i = 0; i < count; i++) {
      for (int row = 0; row < rows.size(); row++) {
        scale[i] = Math.max(scale[i], rows.get(row)[i] / measured.get(row));
      }
      scale[i] = scale[i] == 0 ? 1 : scale[i];
    }
    double[][] products = new double[count][count];
    double[] right = new double[count];
    for (int row = 0; row < rows.size(); row++) {
      for (int i = 0; i < count; i++) {
        double own = rows.get(row)[i] / measured.get(row) / scale[i];
        right[i] += own;
        for (int j = 0; own != 0 && j < count; j++) {
          products[i][j] += own * rows.get(row)[j] / measured.get(row) / scale[j];
        }
      }
    }
    double[] found = new double[count];
    for (int i = 0; i < count; i++) {
      boolean isKept = !Double.isNaN(before[i]);
      products[i][i] += isKept ? KEEP : RIDGE;
      right[i] += isKept ? KEEP * before[i] * scale[i] : 0;
      found[i] = isKept ? before[i] * scale[i] : 0;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
      double change = 0;
      for (int i = count - 1; i >= 0; i--) {
        double rest = right[i];
        for (int j = 0; j < count; j++) {
          rest -= j == i ? 0 : products[i][j] * found[j];
        }
        double next = Math.max(0, rest / products[i][i]);
        change = Math.max(change, Math.abs(next - found[i]));
        found[i] = next;
      }
      if (change < 1e-12) {
        break;
      }
    }
    for (int i = 0; i < count; i++) {
      found[i] /= scale[i];
    }
    return found;
  }
}
