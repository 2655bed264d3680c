package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Attention, and the rotation of queries and keys before it. */
final class AttentionIntervals {
  /** The keys whose weights are evaluated at a time. */
  private static final int COLUMNS = 64;

  private final KernelArithmetic arithmetic;

  AttentionIntervals(KernelArithmetic arithmetic) {
    this.arithmetic = arithmetic;
  }

  private Interval inDestination(Interval x) {
    return x.map(arithmetic::inDestination);
  }

  /**
   * Pairs of features. The matrix engine gives each feature the other one of its pair, the cosine
   * and the sine; the vector engine reads the feature itself with all of its bits.
   */
  Intervals rotary(boolean isInterleaved, List<Intervals> operands) {
    Intervals x = operands.get(0);
    Shape shape = x.type().shape();
    int size = Math.toIntExact(shape.extent(3));
    int tokens = Math.toIntExact(shape.extent(2));
    int heads = Math.toIntExact(shape.extent(1));
    int half = size / 2;
    Interval[] in = x.elements();
    Interval[] cosines = operands.get(1).map(arithmetic::inSource).elements();
    Interval[] sines = operands.get(2).map(arithmetic::inSource).elements();
    Interval[] out = new Interval[in.length];
    for (int i = 0; i < in.length; i++) {
      int feature = i % size;
      boolean isFirst = isInterleaved ? feature % 2 == 0 : feature < half;
      int pair = isInterleaved ? feature / 2 : feature % half;
      int other = i + (isFirst ? 1 : -1) * (isInterleaved ? 1 : half);
      int sequence = cosines.length == tokens * half ? 0 : i / (heads * tokens * size);
      int angle = (sequence * tokens + i / size % tokens) * half + pair;
      Interval swapped = in[other].map(arithmetic::inSource);
      Interval turned = inDestination(swapped.times(sines[angle]));
      Interval kept = inDestination(in[i].times(cosines[angle]));
      out[i] = inDestination(isFirst ? kept.minus(turned) : kept.plus(turned));
    }
    return Intervals.of(x.type(), out);
  }

  /**
   * Flash attention. It gives {@code Σ w v / Σ w} with weights {@code w = exp(s - m)}; the maximum
   * m cancels, however it was rounded, and however keys are dealt to cores.
   *
   * <ol>
   *   <li>A score s is a sum of products of what the multipliers take of source registers, of which
   *       A holds keys and values, multiplied by the scale and packed. It is off by some d(s),
   *       which changes w by the factor exp(d).
   *   <li>s - m is rounded, which changes w by 1 + u |s - m|, and exp is off by a function's share.
   *   <li>A weight is packed, and cut to a source register.
   *   <li>Each further tile of keys, and each core whose result is joined, multiplies what was
   *       summed before by exp(m - m'), a packed function of a rounded difference.
   *   <li>Sums and values are packed after each of these steps.
   * </ol>
   *
   * <p>The first four change each weight by a factor of its own between 1 - a and 1 + b. A factor
   * that all weights have in common cancels, so the result is off by at most {@code (a + b) / 2 /
   * (1 - a) Σ p |v - y|}, where p are the exact probabilities and y is the exact result. It is no
   * farther from y than the farthest value, since it stays a mean of values; with large scores, a
   * reaches 1 and nothing else is known. The last one changes a sum by at most a share of the
   * magnitudes of its terms.
   */
  Intervals attention(Structured.Attention op, List<Intervals> operands) {
    Intervals q = operands.get(0).map(arithmetic::inSource);
    Intervals k = operands.get(1).map(arithmetic::inFactorA);
    Intervals v = operands.get(2).map(arithmetic::inFactorA);
    if (!q.isExact() || !k.isExact() || !v.isExact()) {
      throw new IllegalStateException("an attention in the kernel that computes its operands");
    }
    double[] p = probabilities(op, q.low(), k.low(), operands);
    double[] value = v.low().doubles();
    double[] scores = largestScores(op.scale(), q.low(), k.low(), terms(op, q, k, operands));
    int keys = Math.toIntExact(v.type().shape().extent(2));
    int size = Math.toIntExact(v.type().shape().extent(3));
    int rowsOfHead = rowsOfHead(q.low(), k.low());
    double ofSums = ofSums(keys);
    Interval[] results = new Interval[scores.length * size];
    for (int row = 0; row < scores.length; row++) {
      int first = row / rowsOfHead * keys;
      double ofWeights = ofWeights(scores[row], q.type().shape().extent(3), keys);
      for (int j = 0; j < size; j++) {
        double exact = 0;
        double magnitudes = 0;
        for (int key = 0; key < keys; key++) {
          double term = p[row * keys + key] * value[(first + key) * size + j];
          exact += term;
          magnitudes += Math.abs(term);
        }
        double distances = 0;
        double farthest = 0;
        for (int key = 0; key < keys; key++) {
          double distance = Math.abs(value[(first + key) * size + j] - exact);
          distances += p[row * keys + key] * distance;
          farthest = p[row * keys + key] > 0 ? Math.max(farthest, distance) : farthest;
        }
        double ofMean = distances == 0 ? 0 : Math.min(ofWeights * distances, farthest);
        double radius = ofMean + ofSums * (magnitudes + Math.abs(exact));
        results[row * size + j] = inDestination(Interval.of(exact).widened(radius));
      }
    }
    return Intervals.of(q.type().with(q.type().shape().with(3, v.type().dim(3))), results);
  }

  /**
   * The tiles of keys, of which one more is begun at either end, and the joins of their results.
   */
  private static long steps(long keys) {
    long tiles = Math.ceilDiv(keys, Matrix.TILE) + 2;
    return tiles + Long.SIZE - Long.numberOfLeadingZeros(tiles);
  }

  private double ofWeights(double score, long features, long keys) {
    double ofScore = arithmetic.ofSum(features + 2) + arithmetic.ofPacking();
    double ofPower =
        Math.expm1(2 * score * arithmetic.ofRounding())
            + arithmetic.ofFunction()
            + arithmetic.ofPacking();
    double ofBoth = Math.expm1(score * ofScore) + (1 + steps(keys)) * ofPower;
    double left = 1 - ofBoth - arithmetic.ofSource();
    return left > 0 ? (ofBoth + arithmetic.ofSource() / 2) / left : Double.POSITIVE_INFINITY;
  }

  private double ofSums(long keys) {
    double ofStep = 3 * arithmetic.ofRounding() + arithmetic.ofPacking();
    return arithmetic.ofSum(keys) + steps(keys) * ofStep;
  }

  /** The queries, of several heads, that attend to the same keys. */
  private static int rowsOfHead(Tensor q, Tensor k) {
    return Math.toIntExact(q.shape().extent(1) / k.shape().extent(1) * q.shape().extent(2));
  }

  /**
   * The exact weights of all keys, {@code [rows, keys]}: attentions whose values are some columns
   * of the identity each, since all of it would take as many elements as keys squared.
   */
  private static double[] probabilities(
      Structured.Attention op, Tensor q, Tensor k, List<Intervals> operands) {
    Shape shape = k.shape();
    int keys = Math.toIntExact(shape.extent(2));
    int heads = Math.toIntExact(shape.extent(0) * shape.extent(1));
    int rows = Math.toIntExact(q.shape().elements() / q.shape().extent(3));
    double[] all = new double[rows * keys];
    for (int from = 0; from < keys; from += COLUMNS) {
      int count = Math.min(COLUMNS, keys - from);
      double[] columns = new double[heads * keys * count];
      for (int head = 0; head < heads; head++) {
        for (int j = 0; j < count; j++) {
          columns[(head * keys + from + j) * count + j] = 1;
        }
      }
      TensorType type = k.type().with(shape.with(3, Dim.of(count)));
      List<Tensor> given = new ArrayList<>(List.of(q, k, Tensor.ofDoubles(type, columns)));
      operands.stream().skip(3).map(Intervals::low).forEach(given::add);
      double[] part = OpEvaluator.evaluate(op, given).getFirst().doubles();
      for (int row = 0; row < rows; row++) {
        System.arraycopy(part, row * count, all, row * keys + from, count);
      }
    }
    return all;
  }

  /** What a mask adds to the scores of each query, {@code [rows, keys]}. */
  private static Optional<double[]> terms(
      Structured.Attention op, Intervals q, Intervals k, List<Intervals> operands) {
    if (!op.mask() || operands.get(3).type().element() == ElementType.BOOL) {
      return Optional.empty();
    }
    Shape scores = q.type().shape().with(3, k.type().dim(2));
    Tensor mask = operands.get(3).low();
    return Optional.of(
        OpEvaluator.evaluate(new Movement.Broadcast(scores), List.of(mask)).getFirst().doubles());
  }

  /** For each query, the largest sum of the magnitudes of a score's products and its term. */
  private static double[] largestScores(
      double scale, Tensor queries, Tensor cache, Optional<double[]> terms) {
    double[] q = queries.doubles();
    double[] k = cache.doubles();
    int size = Math.toIntExact(queries.shape().extent(3));
    int keys = Math.toIntExact(cache.shape().extent(2));
    double[] largest = new double[q.length / size];
    for (int row = 0; row < largest.length; row++) {
      int first = row / rowsOfHead(queries, cache) * keys;
      for (int key = first; key < first + keys; key++) {
        double sum = 0;
        for (int i = 0; i < size; i++) {
          sum += Math.abs(q[row * size + i] * k[key * size + i]);
        }
        int place = row * keys + key - first;
        double term = terms.map(each -> Math.abs(each[place])).orElse(0.0);
        // Keys with larger terms have no weight, or all keys of a query have the same one.
        if (term <= HostNumbers.LARGEST_TERM) {
          largest[row] = Math.max(largest[row], Math.abs(scale) * sum + term);
        }
      }
    }
    return largest;
  }
}
