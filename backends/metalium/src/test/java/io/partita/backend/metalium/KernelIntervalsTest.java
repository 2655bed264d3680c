package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The stages of kernels, as tolerances are derived from them, compute what the operations mean. */
class KernelIntervalsTest {
  private final Random random = new Random(3);

  private Tensor gaussian(long... extents) {
    TensorType type = new TensorType(ElementType.F32, Shape.of(extents));
    double[] values = new double[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = 0.25 + random.nextGaussian();
    }
    return Tensor.ofDoubles(type, values);
  }

  private static Structured.Attention attention(boolean causal, long window) {
    return new Structured.Attention(0.35, 0, causal, Dim.of(0), window, false, true);
  }

  private Map<Op, List<Tensor>> operations() {
    Tensor length = Tensor.longs(Shape.of(1), 45);
    return Map.of(
        new Structured.Linear(false, true),
        List.of(gaussian(3, 70), gaussian(70, 9), gaussian(9)),
        new Structured.Linear(true, false),
        List.of(gaussian(3, 70), gaussian(9, 70)),
        new Structured.Norm(Structured.NormKind.RMS, 1, 1e-5, true, false),
        List.of(gaussian(3, 70), gaussian(70)),
        new Structured.Norm(Structured.NormKind.LAYER, 1, 1e-5, true, true),
        List.of(gaussian(3, 70), gaussian(70), gaussian(70)),
        new Reduction.Softmax(1, false),
        List.of(gaussian(3, 64)),
        new Structured.RotaryEmbedding(true),
        List.of(gaussian(1, 4, 3, 8), gaussian(1, 3, 4), gaussian(1, 3, 4)),
        new Structured.RotaryEmbedding(false),
        List.of(gaussian(1, 4, 3, 8), gaussian(1, 3, 4), gaussian(1, 3, 4)),
        attention(true, 0),
        List.of(gaussian(1, 4, 3, 8), gaussian(1, 2, 50, 8), gaussian(1, 2, 50, 6), length),
        attention(true, 20),
        List.of(gaussian(1, 4, 3, 8), gaussian(1, 1, 50, 8), gaussian(1, 1, 50, 6), length));
  }

  /** Without rounding, there is one result: the operation's. */
  @Test
  void withoutRoundingResultsAreThoseOfTheOperation() {
    Map<Op, List<Tensor>> all = operations();
    assertThat(all).hasSize(9);
    all.forEach(
        (op, operands) -> {
          List<Intervals> exact = operands.stream().map(Intervals::exactly).toList();
          double[] expected =
              OpEvaluator.evaluate(op, exact.stream().map(Intervals::low).toList())
                  .getFirst()
                  .doubles();
          Interval[] found = new KernelIntervals(KernelArithmetic.EXACT).of(op, exact).elements();
          assertThat(found).hasSameSizeAs(expected);
          for (int i = 0; i < found.length; i++) {
            // The coefficients 1/n and ε of norms are f32.
            assertThat(found[i].low())
                .as(op.mnemonic())
                .isBetween(expected[i] - 1e-6, expected[i] + 1e-6);
            assertThat(found[i].high()).isBetween(found[i].low(), expected[i] + 1e-6);
          }
        });
  }

  /**
   * Results in a format are near those without rounding: within a few of its roundings, relative to
   * the terms of their sums, which here are less than 256.
   */
  @ParameterizedTest
  @EnumSource(value = KernelArithmetic.class, names = "EXACT", mode = EnumSource.Mode.EXCLUDE)
  void resultsInFormatsAreNear(KernelArithmetic arithmetic) {
    Map<Op, List<Tensor>> all = new LinkedHashMap<>(operations());
    if (arithmetic == KernelArithmetic.BF16_SUMS) {
      // What else kernels of products compute are functions of elements.
      all.keySet().removeIf(op -> !(op instanceof Structured.Linear || op instanceof Elementwise));
      assertThat(all).isNotEmpty();
    }
    all.forEach(
        (op, operands) -> {
          List<Intervals> exact =
              operands.stream()
                  .map(Intervals::exactly)
                  .map(
                      each -> each.type().element().isFloat() ? each.map(arithmetic::packed) : each)
                  .toList();
          Interval[] expected =
              new KernelIntervals(KernelArithmetic.EXACT).of(op, exact).elements();
          KernelIntervals kernels = new KernelIntervals(arithmetic);
          Interval[] found = kernels.packed(kernels.of(op, exact)).elements();
          for (int i = 0; i < found.length; i++) {
            double share = Math.max(arithmetic.ofSource(), arithmetic.ofPacking());
            double near = 256 * Math.max(share, arithmetic.ofSum(128));
            assertThat(found[i].low()).isGreaterThan(expected[i].low() - near);
            assertThat(found[i].high())
                .isLessThan(expected[i].high() + near)
                .isGreaterThanOrEqualTo(found[i].low());
          }
        });
  }

  /** Functions of numbers that aren't known reach their extremes at the ends, or between. */
  @ParameterizedTest
  @EnumSource(
      value = UnaryFunction.class,
      names = {
        "ABS",
        "EXP",
        "GELU",
        "RECIPROCAL",
        "RELU",
        "SIGMOID",
        "SILU",
        "SQRT",
        "TANH",
        "ROUND"
      })
  void intervalsOfFunctionsHoldAllResults(UnaryFunction function) {
    KernelIntervals kernels = new KernelIntervals(KernelArithmetic.F32);
    boolean isOfPositive = function == UnaryFunction.RECIPROCAL || function == UnaryFunction.SQRT;
    for (int i = 0; i < 200; i++) {
      double low = isOfPositive ? 0.1 + random.nextDouble() : -3 + 4 * random.nextDouble();
      double high = low + random.nextDouble() * random.nextDouble() * 3;
      Tensor least = Tensor.scalar(ElementType.F64, low);
      Tensor most = Tensor.scalar(ElementType.F64, high);
      Interval found =
          kernels.of(new Elementwise.Unary(function), List.of(new Intervals(least, most)))
              .elements()[0];
      double smallest = Double.POSITIVE_INFINITY;
      double largest = Double.NEGATIVE_INFINITY;
      for (int j = 0; j <= 1000; j++) {
        double y = function.ofDouble().applyAsDouble(low + (high - low) * j / 1000);
        smallest = Math.min(smallest, y);
        largest = Math.max(largest, y);
      }
      assertThat(found.low())
          .isBetween(
              smallest - 2e-3 * (1 + Math.abs(smallest)),
              smallest + 1e-7 * (1 + Math.abs(smallest)));
      assertThat(found.high())
          .isBetween(
              largest - 1e-7 * (1 + Math.abs(largest)), largest + 2e-3 * (1 + Math.abs(largest)));
    }
  }

  /** Where the exponential of -x is infinite, kernels give 0. */
  @ParameterizedTest
  @EnumSource(
      value = UnaryFunction.class,
      names = {"SIGMOID", "SILU"})
  void functionsOfFarNegativeNumbersMayBeZero(UnaryFunction function) {
    for (KernelArithmetic arithmetic : List.of(KernelArithmetic.F32, KernelArithmetic.BF16)) {
      Interval found =
          new KernelIntervals(arithmetic)
              .of(
                  new Elementwise.Unary(function),
                  List.of(Intervals.exactly(Tensor.scalar(ElementType.F64, -89))))
              .elements()[0];
      assertThat(found.low()).isLessThanOrEqualTo(0);
      assertThat(found.high()).isBetween(0.0, 1e-30);
    }
  }

  /** With scores whose errors change weights by any factor, results are still means of values. */
  @Test
  void attentionWithLargeScoresStaysAmongItsValues() {
    KernelArithmetic arithmetic = KernelArithmetic.BF16;
    List<Intervals> operands =
        Stream.of(
                times(12, gaussian(1, 4, 3, 64)),
                times(12, gaussian(1, 2, 100, 64)),
                gaussian(1, 2, 100, 6))
            .map(Intervals::exactly)
            .map(each -> each.map(arithmetic::packed))
            .toList();
    Structured.Attention op = new Structured.Attention(0.125, 0, false, Dim.of(0), 0, false, false);
    Interval[] expected = new KernelIntervals(KernelArithmetic.EXACT).of(op, operands).elements();
    Interval[] found = new KernelIntervals(arithmetic).of(op, operands).elements();
    double farthest =
        Arrays.stream(operands.get(2).low().doubles()).map(Math::abs).max().orElseThrow();
    for (int i = 0; i < found.length; i++) {
      assertThat(found[i].low()).isBetween(-4 * farthest, expected[i].low());
      assertThat(found[i].high()).isBetween(expected[i].high(), 4 * farthest);
    }
  }

  private static Tensor times(double factor, Tensor tensor) {
    return Tensor.ofDoubles(
        tensor.type(), Arrays.stream(tensor.doubles()).map(x -> factor * x).toArray());
  }

  /** A number near a half may be rounded to either code, and no other one. */
  @Test
  void onlyNumbersNearAHalfHaveTwoCodes() {
    KernelIntervals kernels = new KernelIntervals(KernelArithmetic.F32);
    TensorType type = new TensorType(ElementType.F64, Shape.of(3));
    Intervals x =
        new Intervals(
            Tensor.ofDoubles(type, new double[] {2.4, 2.499, 2.6}),
            Tensor.ofDoubles(type, new double[] {2.41, 2.501, 2.61}));
    Intervals codes =
        kernels.of(
            new Elementwise.Cast(ElementType.U8),
            List.of(kernels.of(new Elementwise.Unary(UnaryFunction.ROUND), List.of(x))));
    assertThat(codes.low().longs()).containsExactly(2, 2, 3);
    assertThat(codes.high().longs()).containsExactly(2, 3, 3);
    Tensor four = Tensor.scalar(ElementType.U8, 4);
    Intervals shifted =
        kernels.of(
            new Elementwise.Binary(BinaryFunction.SHIFT_LEFT),
            List.of(codes, Intervals.exactly(four)));
    assertThat(shifted.high().longs()).containsExactly(32, 48, 48);
    Intervals masked =
        kernels.of(
            new Elementwise.Binary(BinaryFunction.BIT_AND),
            new ArrayList<>(List.of(codes, Intervals.exactly(Tensor.scalar(ElementType.U8, 7)))));
    assertThat(masked.low().longs()).containsExactly(2, 0, 3);
    assertThat(masked.high().longs()).containsExactly(2, 7, 3);
  }
}
