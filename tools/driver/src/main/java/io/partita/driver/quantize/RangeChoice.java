package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.Affine;

/** How the range of a value is chosen from the numbers seen. */
public enum RangeChoice {
  /** All numbers seen. */
  MIN_MAX {
    @Override
    Affine code(Histogram seen, double percentile) {
      return Affine.of(seen.low(), seen.high());
    }
  },
  /** Without the outermost numbers at either end. */
  PERCENTILE {
    @Override
    Affine code(Histogram seen, double percentile) {
      double outside = (1 - percentile / 100) / 2;
      return Affine.of(seen.quantile(outside), seen.quantile(1 - outside));
    }
  },
  /** The range with the least mean squared error. */
  MSE {
    @Override
    Affine code(Histogram seen, double percentile) {
      Affine best = Affine.of(seen.low(), seen.high());
      double least = seen.squaredError(best);
      for (int low = 0; low < STEPS; low++) {
        for (int high = 0; high < STEPS; high++) {
          Affine code = Affine.of(clipped(seen.low(), low), clipped(seen.high(), high));
          double error = code.scale() > 0 ? seen.squaredError(code) : Double.POSITIVE_INFINITY;
          if (error < least) {
            least = error;
            best = code;
          }
        }
      }
      return best;
    }
  };

  /** The number of places at which either end is tried. */
  private static final int STEPS = 24;

  private static double clipped(double end, int step) {
    return end * (STEPS - step) / STEPS;
  }

  /**
   * @param percentile the part of the numbers within the range of {@link #PERCENTILE}, in percent
   */
  abstract Affine code(Histogram seen, double percentile);
}
