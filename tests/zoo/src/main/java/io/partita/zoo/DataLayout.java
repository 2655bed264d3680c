package io.partita.zoo;

import io.partita.zoo.Weight.Use;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The location of each weight in a file of external data.
 *
 * @param offsets the offsets of the weights in bytes, by name
 * @param tiling the region that matrices and tables share, if any
 */
record DataLayout(Map<String, Long> offsets, Optional<Tiling> tiling) {
  /** The page size of file systems and memory maps; holes and tensors begin at multiples of it. */
  static final int PAGE_BYTES = 4096;

  /** The total size of the random pages of a tiled region, in bytes. */
  static final long TILE_BYTES = 48L << 20;

  /** The bytes at the start of the tables without holes. */
  static final long LEAD_BYTES = 16L << 20;

  /**
   * The first {@code leadBytes} of a file are random numbers, and after them one page in {@code
   * stride}; the rest are holes, which read as zeros and cost nothing. Tables begin at 0, so that
   * their first rows are whole; matrices begin after the lead, each a page further. The stride is
   * odd and prime, so that no row or column of a matrix is all zeros: the row lengths of
   * transformers have small factors.
   *
   * @param bytes the length of the region
   * @param leadDeviation the standard deviation of the numbers in the lead
   * @param deviation the standard deviation of other numbers, larger by sqrt(stride) than in a
   *     matrix without holes
   */
  record Tiling(long bytes, long leadBytes, int stride, double leadDeviation, double deviation) {}

  /** One weight after the other. */
  static DataLayout dense(List<Weight> weights) {
    Map<String, Long> offsets = new LinkedHashMap<>();
    long end = 0;
    for (Weight weight : weights) {
      offsets.put(weight.name(), end);
      end = pageAligned(end + weight.bytes());
    }
    return new DataLayout(offsets, Optional.empty());
  }

  /** Matrices and tables share one region; all else follows it. */
  static DataLayout tiled(List<Weight> weights, long tileBytes, long leadBytes) {
    Map<String, Long> offsets = new LinkedHashMap<>();
    long bytes = leadBytes;
    long start = leadBytes;
    for (Weight weight : weights) {
      if (weight.use() == Use.TABLE) {
        offsets.put(weight.name(), 0L);
        bytes = Math.max(bytes, weight.bytes());
      } else if (weight.use() == Use.MATRIX) {
        offsets.put(weight.name(), start);
        bytes = Math.max(bytes, start + weight.bytes());
        start += PAGE_BYTES;
      }
    }
    bytes = pageAligned(bytes);
    long end = bytes;
    for (Weight weight : weights) {
      if (!shared(weight)) {
        offsets.put(weight.name(), end);
        end = pageAligned(end + weight.bytes());
      }
    }
    int stride = stride(bytes, tileBytes);
    double deviation = deviation(weights, Use.MATRIX) * StrictMath.sqrt(stride);
    Tiling tiling = new Tiling(bytes, leadBytes, stride, deviation(weights, Use.TABLE), deviation);
    return new DataLayout(offsets, Optional.of(tiling));
  }

  /** Whether a tiled file stores this weight in the shared region. */
  static boolean shared(Weight weight) {
    return weight.use() == Use.TABLE || weight.use() == Use.MATRIX;
  }

  /** The deviation of the first weight of this use. */
  private static double deviation(List<Weight> weights, Use use) {
    for (Weight weight : weights) {
      if (weight.use() == use && weight.fill() instanceof Fill.Normal(_, double deviation)) {
        return deviation;
      }
    }
    throw new IllegalArgumentException("no weight to tile is a " + use);
  }

  private static int stride(long bytes, long tileBytes) {
    return BigInteger.valueOf(Math.max(2, bytes / tileBytes)).nextProbablePrime().intValueExact();
  }

  private static long pageAligned(long bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }
}
