package io.partita.ir.eval;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;

/** The nearest centroid of each group of features. */
final class NearestCentroidKernel {
  private NearestCentroidKernel() {}

  static Tensor evaluate(int groups, Tensor vectors, Tensor centroids, TensorType type) {
    int width = (int) centroids.shape().extent(1);
    int size = (int) centroids.shape().extent(0) / groups;
    float[] x = vectors.floats();
    float[] columns = transposed(centroids.floats(), groups, size, width);
    long[] out = new long[(int) type.shape().elements()];
    ParallelTasks.run(
        out.length / groups,
        (long) x.length * size,
        row -> {
          float[] distances = new float[size];
          for (int group = 0; group < groups; group++) {
            int index = row * groups + group;
            distances(x, index * width, columns, group * width * size, width, distances);
            out[index] = least(distances);
          }
        });
    return Tensor.ofLongs(type, out);
  }

  /** {@code [groups, size, width]} to {@code [groups, width, size]}. */
  private static float[] transposed(float[] centroids, int groups, int size, int width) {
    float[] columns = new float[centroids.length];
    for (int group = 0; group < groups; group++) {
      int start = group * size * width;
      for (int k = 0; k < size; k++) {
        for (int j = 0; j < width; j++) {
          columns[start + j * size + k] = centroids[start + k * width + j];
        }
      }
    }
    return columns;
  }

  private static void distances(
      float[] x, int from, float[] columns, int column, int width, float[] distances) {
    int size = distances.length;
    java.util.Arrays.fill(distances, 0);
    for (int j = 0; j < width; j++) {
      float z = x[from + j];
      for (int k = 0; k < size; k++) {
        float difference = z - columns[column + j * size + k];
        distances[k] += difference * difference;
      }
    }
  }

  private static int least(float[] distances) {
    float least = Float.POSITIVE_INFINITY;
    int index = 0;
    for (int k = 0; k < distances.length; k++) {
      if (distances[k] < least) {
        least = distances[k];
        index = k;
      }
    }
    return index;
  }
}
