package io.partita.passes.mesh.sync;

import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.IntStream;

/**
 * The ranges of the features of each device's term, as in "Towards Low-bit Communication for Tensor
 * Parallel LLM Inference", section 3: exponential moving averages of the least and the largest
 * value of each sequence.
 *
 * @param minimum the minimum m, by place and feature
 * @param maximum the maximum M, by place and feature
 * @param leastSum the minimum of the sum of all terms, by feature
 * @param largestSum the maximum of this sum
 * @param leastPartial the minima of the {@link PartialSums}, by feature
 * @param largestPartial their maxima
 */
public record FeatureRanges(
    double[][] minimum,
    double[][] maximum,
    double[] leastSum,
    double[] largestSum,
    double[][] leastPartial,
    double[][] largestPartial) {
  /** Gamma of equations 1 and 2. */
  public static final double RATE = 0.01;

  /** Returns the ranges after another sequence, by equations 1 and 2. */
  public FeatureRanges updated(FeatureRanges sequence) {
    DoubleBinaryOperator average = (old, now) -> (1 - RATE) * old + RATE * now;
    return combined(sequence, average, average);
  }

  /** Returns the union of ranges, for a sequence that was run in parts. */
  public FeatureRanges joined(FeatureRanges other) {
    return combined(other, Math::min, Math::max);
  }

  private FeatureRanges combined(
      FeatureRanges other, DoubleBinaryOperator least, DoubleBinaryOperator largest) {
    return new FeatureRanges(
        combined(minimum, other.minimum, least),
        combined(maximum, other.maximum, largest),
        combined(leastSum, other.leastSum, least),
        combined(largestSum, other.largestSum, largest),
        combined(leastPartial, other.leastPartial, least),
        combined(largestPartial, other.largestPartial, largest));
  }

  private static double[][] combined(double[][] a, double[][] b, DoubleBinaryOperator function) {
    return IntStream.range(0, a.length)
        .mapToObj(place -> combined(a[place], b[place], function))
        .toArray(double[][]::new);
  }

  private static double[] combined(double[] a, double[] b, DoubleBinaryOperator function) {
    return IntStream.range(0, a.length)
        .mapToDouble(j -> function.applyAsDouble(a[j], b[j]))
        .toArray();
  }

  public int places() {
    return minimum.length;
  }

  /** How many partial sums of several terms devices pass on. */
  public int partialSums() {
    return PartialSums.of(places()).size();
  }

  public int features() {
    return minimum[0].length;
  }

  /** Returns half of R, the largest magnitude of a feature on a device. */
  double bound(int place, int feature) {
    return Math.max(-minimum[place][feature], maximum[place][feature]);
  }

  /** Returns the largest magnitude of a feature of the sum. */
  double sumBound(int feature) {
    return Math.max(-leastSum[feature], largestSum[feature]);
  }

  /** The largest magnitude of what a device sends up a tree, its own term and others. */
  double treeBound(int place, int feature) {
    return partialBound(
        new PartialSums(place, PartialSums.treeTerms(place, places()), false), feature);
  }

  /** The largest magnitude of what a device sends on in a ring: the sum of so many terms. */
  double ringBound(int count, int feature) {
    return partialBound(new PartialSums(0, count, true), feature);
  }

  private double partialBound(PartialSums sum, int feature) {
    int row = PartialSums.of(places()).indexOf(sum);
    return Math.max(-leastPartial[row][feature], largestPartial[row][feature]);
  }

  /** Returns half of the range of a feature, summed over all devices. */
  double aggregated(int feature) {
    return IntStream.range(0, places()).mapToDouble(place -> bound(place, feature)).sum();
  }

  /** Returns the widest aggregated range, relative to the mean. */
  public double spread() {
    DoubleSummaryStatistics widths =
        IntStream.range(0, features()).mapToDouble(this::aggregated).summaryStatistics();
    return widths.getMax() == 0 ? 1 : widths.getMax() / widths.getAverage();
  }

  /** Returns the {@code count} features of the widest aggregated ranges, in ascending order. */
  List<Integer> widest(int count) {
    return IntStream.range(0, features())
        .boxed()
        .sorted(Comparator.comparingDouble((Integer j) -> -aggregated(j)))
        .limit(count)
        .sorted()
        .toList();
  }

  /** Returns {@code count} random features, in ascending order. */
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

  /** Whether all ranges are finite. */
  public boolean isFinite() {
    return invalid() < 0;
  }

  /** Returns the first feature with a range that is empty or not finite, or -1. */
  int invalid() {
    for (int j = 0; j < features(); j++) {
      double all = aggregated(j) + sumBound(j);
      boolean ascends = leastSum[j] <= largestSum[j];
      for (int place = 0; place < places(); place++) {
        ascends = ascends && minimum[place][j] <= maximum[place][j];
      }
      for (int row = 0; row < leastPartial.length; row++) {
        all += Math.max(-leastPartial[row][j], largestPartial[row][j]);
        ascends = ascends && leastPartial[row][j] <= largestPartial[row][j];
      }
      if (!ascends || !Double.isFinite(all)) {
        return j;
      }
    }
    return -1;
  }
}
