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
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import org.junit.jupiter.api.Test;

class ActivationRulesTest {
  /** The constants are rounded to f32, and the factors multiplied in another order. */
  private static final double TOLERANCE = 1e-6;

  private static Value onePlusErf(GraphBuilder graph, Value x, double divisor) {
    Value scaled = binary(graph, BinaryFunction.DIV, x, number(graph, divisor));
    return add(graph, unary(graph, UnaryFunction.ERF, scaled), number(graph, 1));
  }

  @Test
  void geluWithTheHalfInEachPosition() {
    Raised first =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              Value half = mul(graph, x, number(graph, 0.5));
              return mul(graph, half, onePlusErf(graph, x, Math.sqrt(2)));
            });
    Raised second =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              Value half = mul(graph, number(graph, 0.5), onePlusErf(graph, x, Math.sqrt(2)));
              return mul(graph, x, half);
            });
    Raised last =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              Value product = mul(graph, x, onePlusErf(graph, x, Math.sqrt(2)));
              return mul(graph, product, number(graph, 0.5));
            });
    for (Raised raised : new Raised[] {first, second, last}) {
      assertThat(raised.operations()).containsExactly("gelu");
      raised.agrees(TOLERANCE);
    }
  }

  @Test
  void geluNeedsItsDivisor() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              Value half = mul(graph, x, number(graph, 0.5));
              return mul(graph, half, onePlusErf(graph, x, 1.4));
            });
    assertThat(raised.operations()).doesNotContain("gelu");
    raised.agrees(0);
  }

  private static Value newGelu(GraphBuilder graph, double cubic) {
    Value x = input(graph, "x", 64);
    Value cube = binary(graph, BinaryFunction.POW, x, number(graph, 3));
    Value inner = add(graph, x, mul(graph, cube, number(graph, cubic)));
    Value tanh =
        unary(graph, UnaryFunction.TANH, mul(graph, inner, number(graph, Math.sqrt(2 / Math.PI))));
    return mul(graph, mul(graph, x, number(graph, 0.5)), add(graph, tanh, number(graph, 1)));
  }

  @Test
  void geluByTanh() {
    Raised raised = Raised.of(graph -> newGelu(graph, 0.044715));
    assertThat(raised.operations()).containsExactly("gelu_tanh");
    raised.agrees(TOLERANCE);
  }

  /** {@code x/2 (1 + tanh(0.79788456 x (1 + 0.044715 x x)))}, each product from the left. */
  @Test
  void geluByTanhOfAProduct() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 7);
              Value cubic = mul(graph, mul(graph, number(graph, 0.044715), x), x);
              Value slope = mul(graph, x, number(graph, 0.79788456));
              Value argument = mul(graph, slope, add(graph, number(graph, 1), cubic));
              Value tanh = unary(graph, UnaryFunction.TANH, argument);
              Value half = mul(graph, x, number(graph, 0.5));
              return mul(graph, half, add(graph, number(graph, 1), tanh));
            });
    assertThat(raised.operations()).containsExactly("gelu_tanh");
    raised.agrees(TOLERANCE);
  }

  @Test
  void geluAsASum() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 7);
              Value scaled = mul(graph, x, number(graph, Math.sqrt(0.5)));
              Value half = mul(graph, x, number(graph, 0.5));
              return add(graph, half, mul(graph, half, unary(graph, UnaryFunction.ERF, scaled)));
            });
    assertThat(raised.operations()).containsExactly("gelu");
    raised.agrees(TOLERANCE);
  }

  @Test
  void geluNeedsAScalarFactor() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 2, 7);
              Value half = mul(graph, x, weight(graph, 7));
              return mul(graph, half, onePlusErf(graph, x, Math.sqrt(2)));
            });
    assertThat(raised.operations()).doesNotContain("gelu");
    raised.agrees(0);
  }

  @Test
  void geluNeedsItsCubicTerm() {
    assertThat(Raised.of(graph -> newGelu(graph, 0.0448)).operations()).doesNotContain("gelu_tanh");
  }

  @Test
  void silu() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              return mul(graph, x, unary(graph, UnaryFunction.SIGMOID, x));
            });
    assertThat(raised.operations()).containsExactly("silu");
    raised.agrees(TOLERANCE);
  }

  @Test
  void siluNeedsAGateOfItsInput() {
    Raised raised =
        Raised.of(
            graph ->
                mul(
                    graph,
                    input(graph, "x", 64),
                    unary(graph, UnaryFunction.SIGMOID, input(graph, "gate", 64))));
    assertThat(raised.operations()).containsExactly("sigmoid", "mul");
  }

  private static Value quickGelu(GraphBuilder graph, double alpha) {
    Value x = input(graph, "x", 64);
    return mul(graph, x, unary(graph, UnaryFunction.SIGMOID, mul(graph, x, number(graph, alpha))));
  }

  @Test
  void quickGeluOnlyWithItsFactor() {
    Raised raised = Raised.of(graph -> quickGelu(graph, 1.702));
    assertThat(raised.operations()).containsExactly("quick_gelu");
    raised.agrees(TOLERANCE);
    Raised other = Raised.of(graph -> quickGelu(graph, 1.7));
    assertThat(other.operations()).contains("sigmoid");
    other.agrees(0);
  }

  /** {@code clip(x slope + start, 0, high)}. */
  private static Value clipped(
      GraphBuilder graph, Value x, double slope, double start, double high) {
    Value line = slope == 1 ? x : mul(graph, x, number(graph, slope));
    Value sum = add(graph, line, number(graph, start));
    Value low = binary(graph, BinaryFunction.MAX, sum, number(graph, 0));
    return binary(graph, BinaryFunction.MIN, low, number(graph, high));
  }

  @Test
  void hardSwishWithTheSixthInEitherPosition() {
    Raised inside =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              return mul(graph, x, clipped(graph, x, 1.0 / 6, 0.5, 1));
            });
    Raised outside =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              Value product = mul(graph, x, clipped(graph, x, 1, 3, 6));
              return binary(graph, BinaryFunction.DIV, product, number(graph, 6));
            });
    for (Raised raised : new Raised[] {inside, outside}) {
      assertThat(raised.operations()).containsExactly("hard_swish");
      raised.agrees(TOLERANCE);
    }
  }

  @Test
  void hardSwishNeedsItsSlope() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 64);
              return mul(graph, x, clipped(graph, x, 0.2, 0.5, 1));
            });
    assertThat(raised.operations()).doesNotContain("hard_swish");
    raised.agrees(0);
  }
}
