package io.partita.passes.mesh.sync;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.IntStream;

/**
 * Between which values the features of each device's term lie, as in "Towards Low-bit Communication
 * for Tensor Parallel LLM Inference", section 3: exponential moving averages of the least and the
 * largest value of each sequence.
 *
 * @param minimum m, by place and feature
 * @param maximum M, by place and feature
 */
public record FeatureRanges(double[][] minimum, double[][] maximum) {
  /** Gamma of equations 1 and 2. */
  public static final double RATE = 0.01;

  /** With one more sequence: equations 1 and 2. */
  public FeatureRanges updated(FeatureRanges sequence) {
    DoubleBinaryOperator average = (old, now) -> (1 - RATE) * old + RATE * now;
    return new FeatureRanges(
        combined(minimum, sequence.minimum, average), combined(maximum, sequence.maximum, average));
  }

  /** Of both together: those of one sequence that was run in parts. */
  public FeatureRanges joined(FeatureRanges other) {
    return new FeatureRanges(
        combined(minimum, other.minimum, Math::min), combined(maximum, other.maximum, Math::max));
  }

  private static double[][] combined(double[][] a, double[][] b, DoubleBinaryOperator function) {
    double[][] result = new double[a.length][];
    for (int place = 0; place < a.length; place++) {
      result[place] = new double[a[place].length];
      for (int j = 0; j < a[place].length; j++) {
        result[place][j] = function.applyAsDouble(a[place][j], b[place][j]);
      }
    }
    return result;
  }

  public int places() {
    return minimum.length;
  }

  public int features() {
    return minimum[0].length;
  }

  /** Half of R: the largest magnitude that a feature has on a device. */
  double bound(int place, int feature) {
    return Math.max(-minimum[place][feature], maximum[place][feature]);
  }

  /** Half of the range of a feature, summed over all devices. */
  double aggregated(int feature) {
    return IntStream.range(0, places()).mapToDouble(place -> bound(place, feature)).sum();
  }

  /** The {@code count} features of the widest aggregated ranges, in ascending order. */
  List<Integer> widest(int count) {
    return IntStream.range(0, features())
        .boxed()
        .sorted(Comparator.comparingDouble((Integer j) -> -aggregated(j)))
        .limit(count)
        .sorted()
        .toList();
  }

  /** {@code count} features with equal probability, in ascending order. */
  List<Integer> random(int count, long seed) {
    int[] order = IntStream.range(0, features()).toArray();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      int other = random.nextInt(i, order.length);
      int swapped = order[i];
      order[i] = order[other];
      order[other] = swapped;
    }
    return IntStream.of(order).limit(count).sorted().boxed().toList();
  }

  /** The first feature without a range that is a number; -1 if all have one. */
  int invalid() {
    for (int j = 0; j < features(); j++) {
      if (!Double.isFinite(aggregated(j))) {
        return j;
      }
    }
    return -1;
  }
}
