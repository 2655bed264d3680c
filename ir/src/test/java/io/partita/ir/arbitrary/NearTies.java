package io.partita.ir.arbitrary;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.util.SplittableRandom;

/**
 * Vectors and centroids of which many are nearly as near: every second centroid is the previous one
 * or differs from it by a unit in the last place, and every second vector is halfway between two
 * centroids.
 *
 * @param vectors {@code [batch, tokens, groups width]}
 * @param centroids {@code [groups size, width]}
 */
public record NearTies(Tensor vectors, Tensor centroids) {
  public NearTies(long seed, int batch, int tokens, int groups, int width, int size) {
    this(new SplittableRandom(seed), batch, tokens, groups, width, size);
  }

  private NearTies(
      SplittableRandom random, int batch, int tokens, int groups, int width, int size) {
    this(
        random,
        Shape.of(batch, tokens, (long) groups * width),
        groups,
        width,
        centroids(random, groups * size, width));
  }

  private NearTies(
      SplittableRandom random, Shape vectors, int groups, int width, float[] centroids) {
    this(
        Tensor.floats(vectors, vectors(random, (int) vectors.elements(), groups, width, centroids)),
        Tensor.floats(Shape.of(centroids.length / width, width), centroids));
  }

  private static float[] centroids(SplittableRandom random, int count, int width) {
    float[] values = new float[count * width];
    for (int i = 0; i < values.length; i++) {
      boolean copies = i / width % 2 == 1;
      float before = copies ? values[i - width] : (float) random.nextDouble(-1, 1);
      values[i] = copies && random.nextInt(3) == 0 ? Math.nextUp(before) : before;
    }
    return values;
  }

  private static float[] vectors(
      SplittableRandom random, int count, int groups, int width, float[] centroids) {
    float[] values = new float[count];
    int size = centroids.length / width / groups;
    for (int vector = 0; vector < count / width; vector++) {
      int first = vector % groups * size + random.nextInt(size);
      int second = vector % groups * size + random.nextInt(size);
      for (int j = 0; j < width; j++) {
        values[vector * width + j] =
            vector % 2 == 0
                ? (float) random.nextDouble(-1, 1)
                : (centroids[first * width + j] + centroids[second * width + j]) / 2;
      }
    }
    return values;
  }
}
