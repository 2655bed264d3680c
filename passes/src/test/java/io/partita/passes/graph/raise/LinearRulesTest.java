package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.unary;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LinearRulesTest {
  /** Sums of up to 32 products in another order. */
  private static final double TOLERANCE = 1e-5;

  private static final Dim SEQ = Dim.symbol("seq");

  private static Value matmul(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Contraction.MatMul(ElementType.F32), left, right);
  }

  @Test
  void productAndSumBecomeALinearWithBias() {
    Raised raised =
        Raised.of(
            graph ->
                add(
                    graph,
                    weight(graph, 4),
                    matmul(
                        graph, input(graph, "x", Dim.ONE, SEQ, Dim.of(8)), weight(graph, 8, 4))));
    assertThat(raised.operations()).containsExactly("linear");
    assertThat(raised.only(Structured.Linear.class).bias()).isTrue();
    raised.agrees(TOLERANCE, Map.of("seq", Dim.of(3)));
  }

  @Test
  void productsOfInputsAreNotLinears() {
    Raised raised =
        Raised.of(graph -> matmul(graph, input(graph, "x", 3, 8), input(graph, "w", 8, 4)));
    assertThat(raised.operations()).containsExactly("matmul");
  }

  @Test
  void residualsAreNotBiases() {
    Raised raised =
        Raised.of(
            graph ->
                add(
                    graph,
                    matmul(graph, input(graph, "x", 3, 8), weight(graph, 8, 4)),
                    input(graph, "residual", 3, 4)));
    assertThat(raised.operations()).containsExactly("linear", "add");
    raised.agrees(TOLERANCE);
  }

  @Test
  void biasesMoveBeforeTheResidual() {
    Raised raised =
        Raised.of(
            graph -> {
              Value linear = matmul(graph, input(graph, "x", 3, 8), weight(graph, 8, 4));
              Value sum = add(graph, linear, input(graph, "residual", 3, 4));
              return add(graph, sum, weight(graph, 4));
            });
    assertThat(raised.operations()).containsExactly("linear", "add");
    assertThat(raised.only(Structured.Linear.class).bias()).isTrue();
    raised.agrees(TOLERANCE);
  }

  @Test
  void rowsAreNotFlattenedForALinear() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", Dim.symbol("batch"), SEQ, Dim.of(8));
              Dim rows = Dim.symbol("batch").times(SEQ);
              Value flat = graph.add(new Movement.Reshape(Shape.of(rows, Dim.of(8))), x);
              Value linear = matmul(graph, flat, weight(graph, 8, 4));
              return graph.add(
                  new Movement.Reshape(Shape.of(Dim.symbol("batch"), SEQ, Dim.of(4))), linear);
            });
    assertThat(raised.operations()).containsExactly("linear");
    raised.agrees(TOLERANCE, Map.of("seq", Dim.of(3), "batch", Dim.of(2)));
  }

  @Test
  void feedForwardNetwork() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 3, 8);
              Value up = add(graph, matmul(graph, x, weight(graph, 8, 32)), weight(graph, 32));
              Value hidden = unary(graph, UnaryFunction.GELU, up);
              return matmul(graph, hidden, weight(graph, 32, 8));
            });
    assertThat(raised.operations()).containsExactly("ffn");
    Structured.Ffn ffn = raised.only(Structured.Ffn.class);
    assertThat(ffn.upBias()).isTrue();
    assertThat(ffn.downBias()).isFalse();
    assertThat(ffn.activation()).isEqualTo(UnaryFunction.GELU);
    raised.agrees(TOLERANCE);
  }

  @Test
  void poolersAreNotFeedForwardNetworks() {
    Raised raised =
        Raised.of(
            graph -> {
              Value pooled = matmul(graph, input(graph, "x", 3, 8), weight(graph, 8, 8));
              Value tanh = unary(graph, UnaryFunction.TANH, pooled);
              return matmul(graph, tanh, weight(graph, 8, 2));
            });
    assertThat(raised.operations()).containsExactly("linear", "tanh", "linear");
  }

  @Test
  void gatedNetworkOfOneFusedLinear() {
    Raised raised =
        Raised.of(
            graph -> {
              Value both = matmul(graph, input(graph, "x", 1, 3, 8), weight(graph, 8, 64));
              Value gate = half(graph, both, 0);
              Value up = half(graph, both, 32);
              Value hidden = mul(graph, unary(graph, UnaryFunction.SILU, gate), up);
              return matmul(graph, hidden, weight(graph, 32, 8));
            });
    assertThat(raised.operations()).containsExactly("gated_ffn");
    raised.agrees(TOLERANCE);
  }

  private static Value half(GraphBuilder graph, Value x, long start) {
    return graph.add(
        new Movement.Slice(
            List.of(Dim.ZERO, Dim.ZERO, Dim.of(start)),
            Shape.of(1, 3, 32).dims(),
            List.of(1L, 1L, 1L)),
        x);
  }

  @Test
  void gatesOfOtherInputsAreNotGatedNetworks() {
    Raised raised =
        Raised.of(
            graph -> {
              Value gate = matmul(graph, input(graph, "x", 3, 8), weight(graph, 8, 32));
              Value up = matmul(graph, input(graph, "z", 3, 8), weight(graph, 8, 32));
              Value hidden = mul(graph, unary(graph, UnaryFunction.SILU, gate), up);
              return matmul(graph, hidden, weight(graph, 32, 8));
            });
    assertThat(raised.operations()).doesNotContain("gated_ffn");
    raised.agrees(TOLERANCE);
  }

  @Test
  void projectionsInterleavedByHeadAreSplit() {
    Raised raised =
        Raised.of(
            graph -> {
              Value fused = matmul(graph, input(graph, "x", 1, 3, 8), weight(graph, 8, 24));
              Value heads = graph.add(new Movement.Reshape(Shape.of(1, 3, 2, 12)), fused);
              Value swapped = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), heads);
              return graph.add(
                  new Movement.Slice(
                      List.of(Dim.ZERO, Dim.ZERO, Dim.ZERO, Dim.of(4)),
                      Shape.of(1, 2, 3, 4).dims(),
                      List.of(1L, 1L, 1L, 1L)),
                  swapped);
            });
    assertThat(raised.operations()).containsExactly("linear", "reshape", "transpose");
    raised.agrees(TOLERANCE);
  }
}
