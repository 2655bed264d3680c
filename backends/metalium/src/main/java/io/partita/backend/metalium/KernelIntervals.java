package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;

/**
 * What kernels may compute: the tolerance of each element, derived by interval arithmetic from the
 * stages of its kernel and how each of them rounds ({@link KernelArithmetic}). Where all roundings
 * are certain, only one number is right; a sum may be off by the roundings of any order of its
 * terms.
 */
final class KernelIntervals {
  /** Where functions of the vector engine that first fall and then rise have their minimum. */
  private static final Map<UnaryFunction, Double> MINIMA =
      Map.of(
          UnaryFunction.ABS, 0.0,
          UnaryFunction.SILU, -1.2784645427610738,
          UnaryFunction.GELU, -0.7517915246935645);

  private final KernelArithmetic arithmetic;

  KernelIntervals(KernelArithmetic arithmetic) {
    this.arithmetic = arithmetic;
  }

  /** The results of a step as its kernel writes them. */
  Intervals packed(Intervals result) {
    return result.type().element().isFloat() ? result.map(arithmetic::packed) : result;
  }

  /** The results of an operation in destination registers, for operands of {@link Intervals}. */
  Intervals of(Op op, List<Intervals> operands) {
    return switch (op) {
      case Structured.Linear linear -> linear(linear, operands);
      case Structured.Norm norm -> new RowIntervals(arithmetic).norm(norm, operands);
      case Reduction.Softmax softmax when !softmax.logarithm() ->
          new RowIntervals(arithmetic).softmax(operands.getFirst());
      case Structured.Attention attention when !attention.isInteger() ->
          new AttentionIntervals(arithmetic).attention(attention, operands);
      case Structured.RotaryEmbedding rotary ->
          new AttentionIntervals(arithmetic).rotary(rotary.interleaved(), operands);
      case Contraction.NearestCentroid nearest ->
          new CentroidIntervals(arithmetic.withF32()).codes(nearest, operands);
      case Elementwise.Unary(UnaryFunction function) -> unary(function, operands);
      case Elementwise.Binary(BinaryFunction function) when function == BinaryFunction.BIT_AND ->
          bits(op, operands);
      case Elementwise.Cast(ElementType to) when to == ElementType.BF16 ->
          operands.getFirst().map(arithmetic::inBf16);
      case Elementwise.Cast(ElementType to) when to.isFloat() ->
          ends(new Elementwise.Cast(ElementType.F64), operands);
      case Elementwise other -> inDestination(corners(other, operands));
      case Reduction reduction -> reduction(reduction, operands);
      // Movements and lookups copy.
      default -> ends(op, operands);
    };
  }

  private Intervals inDestination(Intervals results) {
    return results.type().element().isFloat() ? results.map(arithmetic::inDestination) : results;
  }

  /**
   * Sums of products of what the multipliers take of source registers, of which A holds weights.
   *
   * <p>With centers c and radii r, a product of intervals is within {@code |cx| rw + rx |cw| + rx
   * rw = (|cx| + rx) (|cw| + rw) - |cx| |cw|} of the product of their centers.
   */
  private Intervals linear(Structured.Linear linear, List<Intervals> operands) {
    Structured.Linear product = new Structured.Linear(linear.transposed(), false);
    Intervals x = operands.get(0).map(arithmetic::inSource);
    Intervals weight = operands.get(1).map(arithmetic::inFactorA);
    long terms = x.type().shape().extent(x.type().rank() - 1);
    double[] centers = evaluate(product, List.of(center(x), center(weight))).doubles();
    double[] most = evaluate(product, List.of(magnitude(x), magnitude(weight))).doubles();
    double[] least = most;
    if (!x.isExact() || !weight.isExact()) {
      List<Tensor> magnitudes = List.of(absolute(center(x)), absolute(center(weight)));
      least = evaluate(product, magnitudes).doubles();
    }
    Interval[] sums = new Interval[centers.length];
    for (int i = 0; i < sums.length; i++) {
      double radius = most[i] - least[i] + arithmetic.ofSum(terms) * most[i];
      sums[i] = Interval.of(centers[i]).widened(radius).map(arithmetic::inDestination);
    }
    TensorType type =
        product.resultTypes(List.of(x.type(), weight.type())).getFirst().with(ElementType.F64);
    Intervals result = Intervals.of(type, sums);
    return linear.bias()
        ? of(new Elementwise.Binary(BinaryFunction.ADD), List.of(result, operands.get(2)))
        : result;
  }

  private static Tensor center(Intervals x) {
    return x.isExact() ? x.low() : combined(x, (low, high) -> low + (high - low) / 2);
  }

  private static Tensor magnitude(Intervals x) {
    return combined(x, (low, high) -> Math.max(Math.abs(low), Math.abs(high)));
  }

  private static Tensor absolute(Tensor x) {
    return magnitude(new Intervals(x, x));
  }

  private static Tensor combined(Intervals x, DoubleBinaryOperator function) {
    double[] elements = new double[x.low().size()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = function.applyAsDouble(x.low().getDouble(i), x.high().getDouble(i));
    }
    return Tensor.ofDoubles(x.type(), elements);
  }

  private Intervals unary(UnaryFunction function, List<Intervals> operands) {
    Elementwise.Unary op = new Elementwise.Unary(function);
    Intervals x = operands.getFirst();
    Intervals ends = corners(op, operands);
    if (!ends.type().element().isFloat()) {
      return ends;
    }
    Double minimum = MINIMA.get(function);
    Interval[] results = ends.elements();
    for (int i = 0; i < results.length; i++) {
      double low = x.low().getDouble(i);
      double high = x.high().getDouble(i);
      if (minimum != null && low < minimum && minimum < high) {
        double least = function.ofDouble().applyAsDouble(minimum);
        results[i] = new Interval(least, results[i].high());
      }
      results[i] = rounded(function, new Interval(low, high), results[i]);
    }
    return Intervals.of(ends.type(), results);
  }

  private Interval rounded(UnaryFunction function, Interval x, Interval result) {
    Interval widened =
        switch (function) {
          // Chosen or rounded once.
          case ABS, NEG, RELU, ROUND, SQRT, RECIPROCAL -> result;
          // In x/2 (1 + erf(x/√2)), the sum is rounded, and may be small: it is off by units of 1.
          case GELU ->
              result
                  .widenedBy(arithmetic.ofFunction())
                  .widened(arithmetic.ofFunction() * x.magnitude());
          // The exponential of -x may be infinite, and the result 0.
          case SIGMOID, SILU ->
              result.widenedBy(arithmetic.ofFunction()).widened(arithmetic.ofOverflow());
          default -> result.widenedBy(arithmetic.ofFunction());
        };
    return widened.map(arithmetic::inDestination);
  }

  /** Bits of numbers that aren't known may be any of those that a mask leaves. */
  private Intervals bits(Op op, List<Intervals> operands) {
    Intervals x = operands.get(0);
    Intervals exact = corners(op, operands);
    if (operands.stream().allMatch(Intervals::isExact)) {
      return exact;
    }
    Interval[] results = exact.elements();
    for (int i = 0; i < results.length; i++) {
      boolean isKnown = x.low().getDouble(i) == x.high().getDouble(i);
      results[i] = isKnown ? results[i] : new Interval(0, operands.get(1).high().getDouble(0));
    }
    return Intervals.of(exact.type(), results);
  }

  /**
   * A reduction of a decision. The attention sums the squares of a norm: over tiles, which it
   * packs, and then along rows by the matrix engine. The sums of rows and of heads are added one by
   * one.
   */
  private Intervals reduction(Reduction reduction, List<Intervals> operands) {
    Intervals x = operands.getFirst();
    Intervals results = ends(reduction, operands);
    if (!results.type().element().isFloat()) {
      return results;
    }
    double[] magnitudes = evaluate(reduction, List.of(magnitude(x))).doubles();
    double packings = Math.ceilDiv(x.type().shape().fromEnd(0).value(), Matrix.TILE) + 2;
    double share =
        arithmetic.ofSource()
            + packings * arithmetic.ofPacking()
            + arithmetic.ofSum(x.low().size());
    Interval[] widened = results.elements();
    for (int i = 0; i < widened.length; i++) {
      widened[i] = widened[i].widened(share * magnitudes[i]).map(arithmetic::inDestination);
    }
    return Intervals.of(results.type(), widened);
  }

  /** The results of an operation that keeps the order of the numbers of all operands. */
  private static Intervals ends(Op op, List<Intervals> operands) {
    Intervals low = Intervals.exactly(evaluate(op, operands.stream().map(Intervals::low).toList()));
    if (operands.stream().allMatch(Intervals::isExact)) {
      return low;
    }
    Tensor high = evaluate(op, operands.stream().map(Intervals::high).toList());
    return new Intervals(low.low(), Intervals.exactly(high).low());
  }

  /**
   * The results for all combinations of the ends of operands: the extremes of an operation that
   * keeps or reverses the order of the numbers of each operand.
   */
  private static Intervals corners(Op op, List<Intervals> operands) {
    Intervals all = null;
    for (int ends = 0; ends < 1 << operands.size(); ends++) {
      List<Tensor> corner = new ArrayList<>();
      boolean isNew = true;
      for (int i = 0; i < operands.size(); i++) {
        boolean isHigh = (ends >> i & 1) == 1;
        isNew &= !isHigh || !operands.get(i).isExact();
        corner.add(isHigh ? operands.get(i).high() : operands.get(i).low());
      }
      if (isNew) {
        Intervals result = Intervals.exactly(evaluate(op, corner));
        all = all == null ? result : all.or(result);
      }
    }
    return all;
  }

  private static Tensor evaluate(Op op, List<Tensor> operands) {
    return OpEvaluator.evaluate(op, operands).getFirst();
  }
}
