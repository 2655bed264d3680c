package io.partita.backend.metalium;

import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Kernels of whole rows. Each stage below is one of the kernel: what the matrix engine reads is cut
 * to source registers, and what one stage gives to the next is packed.
 */
final class RowIntervals {
  private final KernelArithmetic arithmetic;

  RowIntervals(KernelArithmetic arithmetic) {
    this.arithmetic = arithmetic;
  }

  private Interval inSource(Interval x) {
    return x.map(arithmetic::inSource);
  }

  private Interval packed(Interval x) {
    return x.map(arithmetic::inDestination).map(arithmetic::packed);
  }

  private Interval sum(Interval[] terms) {
    double magnitudes = 0;
    Interval sum = Interval.ZERO;
    for (Interval term : terms) {
      sum = sum.plus(term);
      magnitudes += term.magnitude();
    }
    return sum.widened(arithmetic.ofSum(terms.length) * magnitudes).map(arithmetic::inDestination);
  }

  /** Norms of the last dimension. */
  Intervals norm(Structured.Norm norm, List<Intervals> operands) {
    Interval[] all = operands.getFirst().elements();
    int columns = Math.toIntExact(operands.getFirst().type().shape().fromEnd(0).value());
    Interval[] scale = operands.get(1).elements();
    Optional<Interval[]> bias =
        norm.bias() ? Optional.of(operands.get(2).elements()) : Optional.empty();
    Interval share = inSource(packed(Interval.of(1.0 / columns)));
    Interval[] results = new Interval[all.length];
    for (int start = 0; start < all.length; start += columns) {
      Interval[] x = Arrays.copyOfRange(all, start, start + columns);
      if (norm.kind() == NormKind.LAYER) {
        x = centered(x, share);
      }
      Interval deviation = reciprocalDeviation(x, share, (float) norm.epsilon());
      for (int i = 0; i < columns; i++) {
        Interval normal = inSource(packed(inSource(x[i]).times(deviation)));
        Interval result = packed(normal.times(inSource(scale[i])));
        if (bias.isPresent()) {
          result = inSource(result).plus(inSource(bias.get()[i])).map(arithmetic::inDestination);
        }
        results[start + i] = result;
      }
    }
    return Intervals.of(operands.getFirst().type(), results);
  }

  /** x - mean(x). */
  private Interval[] centered(Interval[] x, Interval share) {
    Interval[] shares =
        Arrays.stream(x).map(each -> inSource(each).times(share)).toArray(Interval[]::new);
    Interval mean = inSource(packed(sum(shares)));
    return Arrays.stream(x)
        .map(each -> packed(inSource(each).minus(mean)))
        .toArray(Interval[]::new);
  }

  /** 1 / √(mean(x²) + ε), as the matrix engine reads it. */
  private Interval reciprocalDeviation(Interval[] x, Interval share, double epsilon) {
    Interval[] squares =
        Arrays.stream(x)
            .map(each -> inSource(packed(inSource(each).squared())).times(share))
            .toArray(Interval[]::new);
    Interval variance = sum(squares).plus(Interval.of(epsilon)).map(arithmetic::inDestination);
    Interval root = variance.mapReversed(each -> 1 / Math.sqrt(each));
    return inSource(packed(root.widenedBy(arithmetic.ofFunction())));
  }

  /** The softmax of the last dimension. */
  Intervals softmax(Intervals operand) {
    Interval[] all = operand.elements();
    int columns = Math.toIntExact(operand.type().shape().fromEnd(0).value());
    Interval[] results = new Interval[all.length];
    for (int start = 0; start < all.length; start += columns) {
      Interval[] x =
          Arrays.stream(all, start, start + columns).map(this::inSource).toArray(Interval[]::new);
      Interval max = inSource(packed(Arrays.stream(x).reduce(Interval::max).orElseThrow()));
      Interval[] powers =
          Arrays.stream(x).map(each -> inSource(power(each.minus(max)))).toArray(Interval[]::new);
      Interval share = inSource(packed(sum(powers).mapReversed(each -> 1 / each)));
      for (int i = 0; i < columns; i++) {
        results[start + i] = powers[i].times(share).map(arithmetic::inDestination);
      }
    }
    return Intervals.of(operand.type(), results);
  }

  private Interval power(Interval x) {
    Interval exact = x.map(arithmetic::inDestination).map(Math::exp);
    return packed(exact.widenedBy(arithmetic.ofFunction()));
  }
}
