package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.passes.mesh.sync.Residual;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CodebookTrainingTest {
  private static float[] clusters(int count, int width, int clusters, double spread) {
    SplittableRandom random = new SplittableRandom(5);
    float[] data = new float[count * width];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < width; j++) {
        double centre = 10 * Math.sin(1 + i % clusters * 7 + j * 3);
        data[i * width + j] = (float) (centre + spread * random.nextGaussian());
      }
    }
    return data;
  }

  private static float[] quantised(float[] vectors, float[] centroids, int width) {
    int[] indices = CodebookTraining.Nearest.of(vectors, centroids, width).indices();
    float[] result = new float[vectors.length];
    for (int i = 0; i < vectors.length; i++) {
      result[i] = centroids[indices[i / width] * width + i % width];
    }
    return result;
  }

  @Test
  void everyClusterGetsACentroid() {
    float[] vectors = clusters(600, 3, 5, 0.01);
    float[] centroids = CodebookTraining.centroids(vectors, 3, 8);
    Residual residual = CodebookCalibration.residual(vectors, quantised(vectors, centroids, 3), 3);
    assertThat(residual.error()).isLessThan(1e-4);
    assertThat(CodebookTraining.centroids(vectors, 3, 8)).isEqualTo(centroids);
  }

  @Test
  void equalVectorsNeedOneCentroid() {
    float[] vectors = new float[20];
    Arrays.fill(vectors, 3);
    assertThat(CodebookTraining.centroids(vectors, 2, 10)).containsOnly(3);
  }

  /** Tests diagonal covariances: the squared differences of means and of standard deviations. */
  @Test
  void distancesOfNormalDistributions() {
    Gaussian one = new Gaussian(new double[] {1, 2}, new double[][] {{4, 0}, {0, 9}});
    Gaussian other = new Gaussian(new double[] {1, 5}, new double[][] {{1, 0}, {0, 25}});
    assertThat(one.distance(other)).isCloseTo(9 + 1 + 4, within(1e-9));
    Gaussian turned = new Gaussian(new double[2], new double[][] {{2, 1}, {1, 3}});
    assertThat(turned.distance(turned)).isCloseTo(0, within(1e-9));
    Gaussian scaled = new Gaussian(new double[2], new double[][] {{8, 4}, {4, 12}});
    assertThat(turned.distance(scaled)).isCloseTo(5, within(1e-9));
  }

  /** Theorem 1 of ASTRA. */
  @Test
  void noiseBringsQuantisedTokensCloser() {
    float[] vectors = clusters(2000, 4, 7, 2);
    Residual residual =
        CodebookCalibration.residual(
            vectors, quantised(vectors, CodebookTraining.centroids(vectors, 4, 16), 4), 4);
    assertThat(residual.distance()).isPositive();
    assertThat(residual.noisyDistance()).isLessThan(residual.distance());
    assertThat(residual.covariance()).hasSize(16);
  }
}
