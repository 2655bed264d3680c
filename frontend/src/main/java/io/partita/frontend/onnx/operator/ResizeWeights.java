package io.partita.frontend.onnx.operator;

/**
 * The interpolation along one axis as a matrix {@code [to, from]}: row i has the weights of the
 * original elements in resized element i. Elements beyond an end equal the last one, or are
 * excluded with {@code excludeOutside}.
 *
 * @param coordinates the coordinates of the axis
 * @param cubic whether to use a cubic polynomial of four elements instead of a line through two
 * @param cubicCoefficient the cubic_coeff_a of ONNX
 * @param antialias whether the filter of a shrinking axis is widened to cover all elements
 */
record ResizeWeights(
    ResizeCoordinates coordinates,
    boolean cubic,
    double cubicCoefficient,
    boolean excludeOutside,
    boolean antialias) {
  /** Returns the matrix in row-major order. */
  double[] matrix() {
    int from = coordinates.from();
    double[] matrix = new double[coordinates.to() * from];
    double stretch = antialias ? Math.max(1, 1 / coordinates.scale()) : 1;
    double reach = (cubic ? 2 : 1) * stretch;
    for (int i = 0; i < coordinates.to(); i++) {
      double x = coordinates.at(i);
      long first = (long) Math.floor(x - reach) + 1;
      long last = (long) Math.ceil(x + reach) - 1;
      double all = 0;
      double inside = 0;
      for (long k = first; k <= last; k++) {
        double weight = weight(Math.abs(k - x) / stretch);
        all += weight;
        inside += k >= 0 && k < from ? weight : 0;
      }
      boolean renormalize = excludeOutside || stretch > 1;
      double divisor = excludeOutside ? inside : renormalize ? all : 1;
      for (long k = first; k <= last; k++) {
        if (!excludeOutside || k >= 0 && k < from) {
          int column = Math.clamp(k, 0, from - 1);
          matrix[i * from + column] += weight(Math.abs(k - x) / stretch) / divisor;
        }
      }
    }
    return matrix;
  }

  /** Returns the weight of an element at a distance. */
  private double weight(double distance) {
    if (!cubic) {
      return Math.max(0, 1 - distance);
    }
    double a = cubicCoefficient;
    if (distance <= 1) {
      return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
    }
    return distance < 2 ? ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a : 0;
  }
}
