package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.binary;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.number;
import static io.partita.passes.graph.raise.Raised.unary;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class NormRulesTest {
  /** Sums of 8 squares in another order: a few roundings of f32. */
  private static final double TOLERANCE = 1e-5;

  private static Value mean(GraphBuilder graph, Value x, int axis) {
    return graph.add(new Reduction.Reduce(ReductionKind.MEAN, List.of(axis), true), x);
  }

  private static Value deviation(GraphBuilder graph, Value meanOfSquares) {
    return unary(graph, UnaryFunction.SQRT, add(graph, meanOfSquares, number(graph, 1e-5)));
  }

  private static Value square(GraphBuilder graph, Value x) {
    return binary(graph, BinaryFunction.POW, x, number(graph, 2));
  }

  @Test
  void rmsNormOfThePyTorchExporters() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 3, 8);
              Value inverse =
                  unary(
                      graph,
                      UnaryFunction.RECIPROCAL,
                      deviation(graph, mean(graph, square(graph, x), 2)));
              return mul(graph, weight(graph, 8), mul(graph, x, inverse));
            });
    assertThat(raised.operations()).containsExactly("rms_norm");
    assertThat(raised.only(Structured.Norm.class).scale()).isTrue();
    raised.agrees(TOLERANCE);
  }

  @Test
  void rmsNormByOneOverRootAndByDivision() {
    Raised product =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 8);
              Value root = deviation(graph, mean(graph, mul(graph, x, x), 1));
              return mul(graph, binary(graph, BinaryFunction.DIV, number(graph, 1), root), x);
            });
    assertThat(product.operations()).containsExactly("rms_norm");
    product.agrees(TOLERANCE);
    Raised quotient =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 8);
              Value root = deviation(graph, mean(graph, mul(graph, x, x), 1));
              return binary(graph, BinaryFunction.DIV, x, root);
            });
    assertThat(quotient.operations()).containsExactly("rms_norm");
    quotient.agrees(TOLERANCE);
  }

  @Test
  void halfPrecisionNormLosesItsCasts() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F16, 2, 8));
              Value wide = graph.add(new Elementwise.Cast(ElementType.F32), x);
              Value norm =
                  mul(
                      graph,
                      wide,
                      unary(
                          graph,
                          UnaryFunction.RECIPROCAL,
                          deviation(graph, mean(graph, square(graph, wide), 1))));
              return graph.add(new Elementwise.Cast(ElementType.F16), norm);
            });
    assertThat(raised.operations()).containsExactly("rms_norm");
    // One rounding to f16 in either form.
    raised.agrees(0x1p-10);
  }

  @Test
  void squaresOfOtherValuesAreNotNorms() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 8);
              Value other = input(graph, "other", 2, 8);
              return binary(
                  graph,
                  BinaryFunction.DIV,
                  x,
                  deviation(graph, mean(graph, square(graph, other), 1)));
            });
    assertThat(raised.operations()).doesNotContain("rms_norm").contains("reduce_mean");
    raised.agrees(0);
  }

  @Test
  void meansOverInnerAxesAreNotNorms() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 4, 8);
              return binary(
                  graph, BinaryFunction.DIV, x, deviation(graph, mean(graph, square(graph, x), 1)));
            });
    assertThat(raised.operations()).doesNotContain("rms_norm");
  }

  private static Value layerNorm(GraphBuilder graph, Value x, int axisOfVariance) {
    Value centered = binary(graph, BinaryFunction.SUB, x, mean(graph, x, 2));
    return binary(
        graph,
        BinaryFunction.DIV,
        centered,
        deviation(graph, mean(graph, square(graph, centered), axisOfVariance)));
  }

  @Test
  void layerNormWithScaleAndBias() {
    Raised raised =
        Raised.of(
            graph ->
                add(
                    graph,
                    mul(graph, layerNorm(graph, input(graph, "x", 2, 3, 8), 2), weight(graph, 8)),
                    weight(graph, 1, 1, 8)));
    assertThat(raised.operations()).containsExactly("layer_norm");
    Structured.Norm norm = raised.only(Structured.Norm.class);
    assertThat(norm.scale()).isTrue();
    assertThat(norm.bias()).isTrue();
    assertThat(norm.axis()).isEqualTo(2);
    raised.agrees(TOLERANCE);
  }

  @Test
  void momentsOverDifferentAxesAreNotALayerNorm() {
    Raised raised = Raised.of(graph -> layerNorm(graph, input(graph, "x", 2, 3, 8), 1));
    assertThat(raised.operations()).doesNotContain("layer_norm");
    raised.agrees(0);
  }

  @Test
  void computedScalesAreNotFused() {
    Raised raised =
        Raised.of(
            graph ->
                mul(
                    graph,
                    layerNorm(graph, input(graph, "x", 2, 3, 8), 2),
                    input(graph, "scale", 8)));
    assertThat(raised.operations()).containsExactly("layer_norm", "mul");
    raised.agrees(TOLERANCE);
  }
}
