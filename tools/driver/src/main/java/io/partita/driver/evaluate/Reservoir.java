package io.partita.driver.evaluate;

import java.util.Arrays;
import java.util.SplittableRandom;

/** A uniform random sample of vectors, of bounded size. */
final class Reservoir {
  private static final int FIRST = 64;
  private static final long SEED = 3;

  private final int width;
  private final int capacity;
  private float[] vectors;
  private long seen;

  /**
   * @param width the length of a vector
   * @param capacity the largest number of vectors that it holds
   */
  Reservoir(int width, int capacity) {
    this.width = width;
    this.capacity = capacity;
    this.vectors = new float[Math.min(FIRST, capacity) * width];
  }

  /**
   * Continues a sample.
   *
   * @param seen the number of vectors that were offered
   * @param vectors the sample
   */
  Reservoir(int width, int capacity, long seen, float[] vectors) {
    this(width, capacity);
    this.seen = seen;
    this.vectors = vectors.clone();
  }

  /**
   * Offers vectors, one after the other. Each of those seen so far is in the sample with the same
   * probability.
   */
  void add(float[] more) {
    for (int at = 0; at < more.length; at += width) {
      long place = seen < capacity ? seen : place(seen);
      seen++;
      if (place < capacity) {
        int to = (int) place * width;
        if (to == vectors.length) {
          long size = Math.min(2L * vectors.length, (long) capacity * width);
          vectors = Arrays.copyOf(vectors, Math.toIntExact(size));
        }
        System.arraycopy(more, at, vectors, to, width);
      }
    }
  }

  /** Returns a random place up to that of a vector; it depends on nothing else. */
  private static long place(long vector) {
    return new SplittableRandom(SEED + vector).nextLong(vector + 1);
  }

  /** The number of vectors offered so far. */
  long seen() {
    return seen;
  }

  /** The sample, one vector after the other. */
  float[] vectors() {
    return Arrays.copyOf(vectors, (int) Math.min(seen, capacity) * width);
  }
}
