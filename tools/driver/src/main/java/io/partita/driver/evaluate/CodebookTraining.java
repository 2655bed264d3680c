package io.partita.driver.evaluate;

import io.partita.ir.eval.ParallelTasks;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Finds the centroids of vectors: k-means on a part of them, then exponential moving averages over
 * all, as VQ-VAE updates its codebook.
 */
final class CodebookTraining {
  private static final int ITERATIONS = 10;

  /** The vectors for each centroid on which k-means runs. */
  private static final int VECTORS_PER_CENTROID = 16;

  /** The share of the old average after a batch. */
  private static final double DECAY = 0.9;

  private static final int BATCH = 4096;
  private static final long SEED = 1;

  private final int width;
  private final int size;

  /** Of each centroid, one after the other. */
  private final float[] centroids;

  private final double[] counts;
  private final double[] sums;

  private CodebookTraining(int width, int size) {
    this.width = width;
    this.size = size;
    this.centroids = new float[size * width];
    this.counts = new double[size];
    this.sums = new double[size * width];
  }

  /**
   * Returns the centroids, one after the other.
   *
   * @param vectors one after the other, at least as many as centroids
   * @param width the length of a vector
   * @param size the number of centroids
   */
  static float[] centroids(float[] vectors, int width, int size) {
    CodebookTraining training = new CodebookTraining(width, size);
    int count = vectors.length / width;
    int[] order = shuffled(count);
    int used = Math.min(count, VECTORS_PER_CENTROID * size);
    float[] part = selected(vectors, width, order, 0, used);
    System.arraycopy(part, 0, training.centroids, 0, training.centroids.length);
    for (int i = 0; i < ITERATIONS; i++) {
      training.step(part);
    }
    for (int from = 0; from < count; from += BATCH) {
      int to = Math.min(count, from + BATCH);
      training.refine(selected(vectors, width, order, from, to));
    }
    return training.centroids;
  }

  private static int[] shuffled(int count) {
    SplittableRandom random = new SplittableRandom(SEED);
    int[] order = IntStream.range(0, count).toArray();
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
    return order;
  }

  private static float[] selected(float[] vectors, int width, int[] order, int from, int to) {
    float[] part = new float[(to - from) * width];
    for (int i = from; i < to; i++) {
      System.arraycopy(vectors, order[i] * width, part, (i - from) * width, width);
    }
    return part;
  }

  /**
   * One step of Lloyd's algorithm. A centroid without vectors moves to a vector that is far off.
   */
  private void step(float[] vectors) {
    Nearest nearest = Nearest.of(vectors, centroids, width);
    Arrays.fill(counts, 0);
    Arrays.fill(sums, 0);
    add(vectors, nearest.indices(), 1);
    int[] far = nearest.farthest();
    int next = 0;
    for (int k = 0; k < size; k++) {
      if (counts[k] == 0) {
        int vector = far[next++ % far.length];
        System.arraycopy(vectors, vector * width, centroids, k * width, width);
        counts[k] = 1;
        for (int j = 0; j < width; j++) {
          sums[k * width + j] = centroids[k * width + j];
        }
      }
    }
    average();
  }

  private void refine(float[] vectors) {
    int[] indices = Nearest.of(vectors, centroids, width).indices();
    for (int k = 0; k < size; k++) {
      counts[k] *= DECAY;
    }
    for (int i = 0; i < sums.length; i++) {
      sums[i] *= DECAY;
    }
    add(vectors, indices, 1 - DECAY);
    average();
  }

  private void add(float[] vectors, int[] indices, double weight) {
    for (int i = 0; i < indices.length; i++) {
      counts[indices[i]] += weight;
      for (int j = 0; j < width; j++) {
        sums[indices[i] * width + j] += weight * vectors[i * width + j];
      }
    }
  }

  private void average() {
    for (int i = 0; i < sums.length; i++) {
      centroids[i] = (float) (sums[i] / counts[i / width]);
    }
  }

  /**
   * The nearest centroids of vectors.
   *
   * @param distances to them, squared
   */
  record Nearest(int[] indices, float[] distances) {
    static Nearest of(float[] vectors, float[] centroids, int width) {
      int size = centroids.length / width;
      float[] columns = new float[centroids.length];
      float[] halves = new float[size];
      for (int k = 0; k < size; k++) {
        for (int j = 0; j < width; j++) {
          float each = centroids[k * width + j];
          columns[j * size + k] = each;
          halves[k] += each * each / 2;
        }
      }
      int count = vectors.length / width;
      Nearest found = new Nearest(new int[count], new float[count]);
      int strip = 256;
      ParallelTasks.run(
          (count + strip - 1) / strip,
          (long) count * centroids.length,
          i -> {
            float[] scores = new float[size];
            for (int v = i * strip; v < Math.min(count, (i + 1) * strip); v++) {
              found.find(v, vectors, columns, halves, scores, width);
            }
          });
      return found;
    }

    private void find(
        int v, float[] vectors, float[] columns, float[] halves, float[] scores, int width) {
      int size = scores.length;
      System.arraycopy(halves, 0, scores, 0, size);
      float squared = 0;
      for (int j = 0; j < width; j++) {
        float z = vectors[v * width + j];
        squared += z * z;
        int column = j * size;
        for (int k = 0; k < size; k++) {
          scores[k] -= z * columns[column + k];
        }
      }
      int best = 0;
      for (int k = 1; k < size; k++) {
        if (scores[k] < scores[best]) {
          best = k;
        }
      }
      indices[v] = best;
      distances[v] = Math.max(0, squared + 2 * scores[best]);
    }

    /** The vectors in the order of their distances, the farthest first. */
    int[] farthest() {
      return IntStream.range(0, indices.length)
          .boxed()
          .sorted((a, b) -> Float.compare(distances[b], distances[a]))
          .mapToInt(Integer::intValue)
          .toArray();
    }
  }
}
