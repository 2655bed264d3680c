package io.partita.driver.evaluate;

/**
 * A normal distribution.
 *
 * @param covariance row by row
 */
record Gaussian(double[] mean, double[][] covariance) {
  private static final int SWEEPS = 30;

  /** Off-diagonal elements this far below the diagonal count as zeros. */
  private static final double NEGLIGIBLE = 1e-12;

  /**
   * Returns the distribution with the mean and covariance of samples.
   *
   * @param samples one after the other
   */
  static Gaussian of(float[] samples, int features) {
    int count = samples.length / features;
    double[] mean = new double[features];
    for (int i = 0; i < samples.length; i++) {
      mean[i % features] += (double) samples[i] / count;
    }
    double[][] covariance = new double[features][features];
    double[] centred = new double[features];
    for (int sample = 0; sample < count; sample++) {
      for (int j = 0; j < features; j++) {
        centred[j] = samples[sample * features + j] - mean[j];
      }
      for (int j = 0; j < features; j++) {
        double scaled = centred[j] / count;
        double[] row = covariance[j];
        for (int k = 0; k < features; k++) {
          row[k] += scaled * centred[k];
        }
      }
    }
    return new Gaussian(mean, covariance);
  }

  /** Returns the distribution of the sum of independent samples of both. */
  Gaussian plus(Gaussian other) {
    int size = mean.length;
    double[] means = new double[size];
    double[][] covariances = new double[size][size];
    for (int j = 0; j < size; j++) {
      means[j] = mean[j] + other.mean[j];
      for (int k = 0; k < size; k++) {
        covariances[j][k] = covariance[j][k] + other.covariance[j][k];
      }
    }
    return new Gaussian(means, covariances);
  }

  /** The squared 2-Wasserstein distance. */
  double distance(Gaussian other) {
    int size = mean.length;
    double sum = 0;
    for (int j = 0; j < size; j++) {
      double difference = mean[j] - other.mean[j];
      sum += difference * difference + covariance[j][j] + other.covariance[j][j];
    }
    double[][] root = root(covariance);
    double[][] product = product(product(root, other.covariance), root);
    eigenvectors(product);
    for (int j = 0; j < size; j++) {
      sum -= 2 * Math.sqrt(Math.max(0, product[j][j]));
    }
    return Math.max(0, sum);
  }

  /** The square root of a symmetric matrix without negative eigenvalues. */
  private static double[][] root(double[][] matrix) {
    int size = matrix.length;
    double[][] values = new double[size][];
    for (int j = 0; j < size; j++) {
      values[j] = matrix[j].clone();
    }
    double[][] vectors = eigenvectors(values);
    double[][] scaled = new double[size][size];
    for (int j = 0; j < size; j++) {
      double factor = Math.sqrt(Math.max(0, values[j][j]));
      for (int k = 0; k < size; k++) {
        scaled[j][k] = factor * vectors[j][k];
      }
    }
    double[][] columns = new double[size][size];
    for (int j = 0; j < size; j++) {
      for (int k = 0; k < size; k++) {
        columns[k][j] = vectors[j][k];
      }
    }
    return product(columns, scaled);
  }

  private static double[][] product(double[][] left, double[][] right) {
    int size = left.length;
    double[][] result = new double[size][size];
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) {
        double factor = left[i][j];
        for (int k = 0; k < size; k++) {
          result[i][k] += factor * right[j][k];
        }
      }
    }
    return result;
  }

  /**
   * Makes a symmetric matrix diagonal by Jacobi's rotations.
   *
   * @return the eigenvectors, as rows in the order of the diagonal
   */
  private static double[][] eigenvectors(double[][] matrix) {
    int size = matrix.length;
    double[][] vectors = new double[size][size];
    double trace = 0;
    for (int j = 0; j < size; j++) {
      vectors[j][j] = 1;
      trace += Math.abs(matrix[j][j]);
    }
    double negligible = NEGLIGIBLE * trace / size;
    boolean rotates = true;
    for (int sweep = 0; sweep < SWEEPS && rotates; sweep++) {
      rotates = false;
      for (int p = 0; p < size; p++) {
        for (int q = p + 1; q < size; q++) {
          if (Math.abs(matrix[p][q]) > negligible) {
            rotate(matrix, vectors, p, q);
            rotates = true;
          }
        }
      }
    }
    return vectors;
  }

  private static void rotate(double[][] matrix, double[][] vectors, int p, int q) {
    double ratio = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q]);
    double tangent = Math.copySign(1, ratio) / (Math.abs(ratio) + Math.hypot(ratio, 1));
    double cosine = 1 / Math.hypot(tangent, 1);
    double sine = tangent * cosine;
    rotateRows(matrix, p, q, cosine, sine);
    for (double[] row : matrix) {
      double first = row[p];
      row[p] = cosine * first - sine * row[q];
      row[q] = sine * first + cosine * row[q];
    }
    rotateRows(vectors, p, q, cosine, sine);
  }

  private static void rotateRows(double[][] rows, int p, int q, double cosine, double sine) {
    double[] first = rows[p];
    double[] second = rows[q];
    for (int k = 0; k < first.length; k++) {
      double kept = first[k];
      first[k] = cosine * kept - sine * second[k];
      second[k] = sine * kept + cosine * second[k];
    }
  }
}
