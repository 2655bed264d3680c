package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.ir.op.Contraction;
import io.partita.ir.type.Shape;

/** The search for nearest centroids, over copies of them by feature so that C2 vectorises it. */
final class NearestCentroidCode {
  private static final Kernel ADD_SQUARES =
      Kernel.of(
          "distances += (x - column)^2.",
          """
          static void addSquares(float[] distances, float x, float[] columns, int column, int size) {
            for (int k = 0; k < size; k++) {
              float difference = x - columns[column + k];
              distances[k] += difference * difference;
            }
          }
          """);

  private static final Kernel NEAREST_CENTROIDS =
      Kernel.of(
          "The first centroid with the least squared distance, for one group of all rows.",
          """
          static void nearestCentroids(float[] x, int rows, int groups, int group, int width, float[] centroids, int size, float[] columns, float[] distances, int[] out) {
            for (int k = 0; k < size; k++) {
              for (int j = 0; j < width; j++) {
                columns[j * size + k] = centroids[(group * size + k) * width + j];
              }
            }
            for (int row = group; row < rows * groups; row += groups) {
              Arrays.fill(distances, 0, size, 0);
              for (int j = 0; j < width; j++) {
                addSquares(distances, x[row * width + j], columns, j * size, size);
              }
              float least = Float.POSITIVE_INFINITY;
              int index = 0;
              for (int k = 0; k < size; k++) {
                if (distances[k] < least) {
                  least = distances[k];
                  index = k;
                }
              }
              out[row] = index;
            }
          }
          """,
          ADD_SQUARES);

  private NearestCentroidCode() {}

  static void emit(StepCode code, Contraction.NearestCentroid nearest) {
    long groups = nearest.groups();
    long count = code.resultType().shape().elements();
    if (count == 0) {
      return;
    }
    Shape centroids = code.shape(1);
    long size = centroids.extent(0) / groups;
    long width = centroids.extent(1);
    String columns = code.scratch.take(Storage.FLOATS, size * width);
    String distances = code.scratch.take(Storage.FLOATS, size);
    code.body.open(LoopNest.loop("group", groups));
    code.body.line(
        code.call(
            NEAREST_CENTROIDS,
            code.array(0),
            count / groups,
            groups,
            "group",
            width,
            code.array(1),
            size,
            columns,
            distances,
            code.result()));
    code.body.close();
  }
}
