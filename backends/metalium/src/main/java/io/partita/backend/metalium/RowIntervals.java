package io.partita.backend.metalium;

import io.partita.ir.op.Structured;
import io.partita.ir.op.Structured.NormKind;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Kernels of whole rows. Each stage below is one of the kernel: what the matrix engine reads is cut
 * to source registers, the first factor of elements and those of sums to the bits that products
 * take of register A, and what one stage gives to the next is packed.
 */
final class RowIntervals {
  private final KernelArithmetic arithmetic;

  RowIntervals(KernelArithmetic arithmetic) {
    this.arithmetic = arithmetic;
  }

  private Interval inSource(Interval x) {
    return x.map(arithmetic::inSource);
  }

  private Interval inFactorA(Interval x) {
    return x.map(arithmetic::inFactorA);
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
    Interval share = inFactorA(packed(Interval.of(1.0 / columns)));
    Interval[] results = new Interval[all.length];
    for (int start = 0; start < all.length; start += columns) {
      Interval[] x = Arrays.copyOfRange(all, start, start + columns);
      if (norm.kind() == NormKind.LAYER) {
        x = centered(x, share);
      }
      Interval deviation = reciprocalDeviation(x, share, (float) norm.epsilon());
      for (int i = 0; i < columns; i++) {
        Interval normal = inFactorA(packed(inFactorA(x[i]).times(deviation)));
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
            .map(each -> inSource(packed(squared(each))).times(share))
            .toArray(Interval[]::new);
    Interval variance = sum(squares).plus(Interval.of(epsilon)).map(arithmetic::inDestination);
    Interval root = variance.mapReversed(each -> 1 / Math.sqrt(each));
    return inSource(packed(root.widenedBy(arithmetic.ofFunction())));
  }

  /** A number multiplied by itself: the farther from zero it is, the larger, in both registers. */
  private Interval squared(Interval x) {
    double low = arithmetic.inFactorA(x.low()) * arithmetic.inSource(x.low());
    double high = arithmetic.inFactorA(x.high()) * arithmetic.inSource(x.high());
    return new Interval(
        x.low() <= 0 && x.high() >= 0 ? 0 : Math.min(low, high), Math.max(low, high));
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
          Arrays.stream(x).map(each -> power(each.minus(max))).toArray(Interval[]::new);
      Interval[] terms = Arrays.stream(powers).map(this::inSource).toArray(Interval[]::new);
      Interval share = inSource(packed(sum(terms).mapReversed(each -> 1 / each)));
      for (int i = 0; i < columns; i++) {
        results[start + i] = inFactorA(powers[i]).times(share).map(arithmetic::inDestination);
      }
    }
    return Intervals.of(operand.type(), results);
  }

  private Interval power(Interval x) {
    Interval exact = x.map(arithmetic::inDestination).map(Math::exp);
    return packed(exact.widenedBy(arithmetic.ofFunction()));
  }
}
