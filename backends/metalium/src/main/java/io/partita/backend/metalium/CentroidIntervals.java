package io.partita.backend.metalium;

import io.partita.ir.op.Contraction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;

/**
 * The centroids that a kernel may find nearest: those whose score {@code x c - |c|² / 2} may be the
 * largest. Which one it is, is certain unless two are about as near as each other.
 */
final class CentroidIntervals {
  private final KernelArithmetic arithmetic;

  CentroidIntervals(KernelArithmetic arithmetic) {
    this.arithmetic = arithmetic;
  }

  Intervals codes(Contraction.NearestCentroid nearest, List<Intervals> operands) {
    Interval[] x = operands.get(0).elements();
    double[] centroids = operands.get(1).low().doubles();
    TensorType book = operands.get(1).type();
    int width = Math.toIntExact(book.shape().extent(1));
    int groups = Math.toIntExact(nearest.groups());
    int size = Math.toIntExact(book.shape().extent(0) / groups);
    Interval[] codes = new Interval[x.length / width];
    for (int i = 0; i < codes.length; i++) {
      Interval[] scores = new Interval[size];
      for (int k = 0; k < size; k++) {
        scores[k] = score(x, i * width, centroids, (i % groups * size + k) * width, width);
      }
      codes[i] = largest(scores);
    }
    List<TensorType> types =
        operands.stream().map(operand -> operand.type().with(ElementType.F32)).toList();
    return Intervals.of(nearest.resultTypes(types).getFirst(), codes);
  }

  /**
   * Both operands are two numbers with the bits that the multipliers take, of which the rests lose
   * what is beyond these, and the product of the rests is left out.
   */
  private Interval score(Interval[] x, int from, double[] centroids, int start, int width) {
    Interval sum = Interval.ZERO;
    double magnitudes = 0;
    double norm = 0;
    for (int j = 0; j < width; j++) {
      double element = centroids[start + j];
      sum = sum.plus(x[from + j].times(Interval.of(element)));
      magnitudes += x[from + j].magnitude() * Math.abs(element);
      norm += element * element / 2;
    }
    double ofX = arithmetic.ofSource();
    double ofCentroid = arithmetic.ofFactorA();
    double rounded =
        arithmetic.ofSum(3L * width + 1) * ((1 + ofX + ofCentroid) * magnitudes + norm)
            + arithmetic.ofRounding() * norm;
    double rests = ofX * ofX + ofX * ofCentroid + ofCentroid * ofCentroid;
    return sum.minus(Interval.of(norm)).widened(rests * magnitudes + rounded);
  }

  /** From the first to the last of those that may be the largest. */
  private static Interval largest(Interval[] scores) {
    double least = Double.NEGATIVE_INFINITY;
    for (Interval score : scores) {
      least = Math.max(least, score.low());
    }
    int first = scores.length;
    int last = 0;
    for (int k = 0; k < scores.length; k++) {
      if (scores[k].high() >= least) {
        first = Math.min(first, k);
        last = k;
      }
    }
    return new Interval(first, last);
  }
}
