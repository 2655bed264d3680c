package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.binary;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.number;
import static io.partita.passes.graph.raise.Raised.unary;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

class AttentionRulesTest {
  /** Scores of 6 products and a softmax over 5 keys, scaled and summed in another order. */
  private static final double TOLERANCE = 1e-5;

  private static final Dim SEQ = Dim.symbol("seq");
  private static final Map<String, Dim> FIVE = Map.of("seq", Dim.of(5));

  /** Attention of 4 heads over a sequence, with scores changed by {@code change}. */
  private static Raised attention(BiFunction<GraphBuilder, Value, Value> change) {
    return Raised.of(
        graph -> {
          Value q = input(graph, "q", Dim.of(2), Dim.of(4), SEQ, Dim.of(6));
          Value k = input(graph, "k", Dim.of(2), Dim.of(4), SEQ, Dim.of(6));
          return weigh(graph, change.apply(graph, scores(graph, q, k)), "v");
        });
  }

  private static Value scores(GraphBuilder graph, Value q, Value k) {
    Value transposed = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), k);
    return graph.add(new Contraction.MatMul(ElementType.F32), q, transposed);
  }

  private static Value weigh(GraphBuilder graph, Value scores, String values) {
    Value v = input(graph, values, Dim.of(2), Dim.of(4), SEQ, Dim.of(6));
    Value probabilities = graph.add(new Reduction.Softmax(3, false), scores);
    return graph.add(new Contraction.MatMul(ElementType.F32), probabilities, v);
  }

  private static Value positions(GraphBuilder graph, Dim... shape) {
    return graph.add(
        new Movement.Reshape(Shape.of(shape)), graph.add(new Source.Iota(SEQ, ElementType.I64)));
  }

  /** {@code [1, 1, seq, seq]}: {@code key <= query}. */
  private static Value causal(GraphBuilder graph) {
    return binary(
        graph,
        BinaryFunction.LESS_OR_EQUAL,
        positions(graph, Dim.ONE, Dim.ONE, Dim.ONE, SEQ),
        positions(graph, Dim.ONE, Dim.ONE, SEQ, Dim.ONE));
  }

  private static Value additive(GraphBuilder graph, Value visible, double hidden) {
    return graph.add(new Elementwise.Select(), visible, number(graph, 0), number(graph, hidden));
  }

  @Test
  void scaledByDivision() {
    Raised raised =
        attention(
            (graph, scores) ->
                binary(graph, BinaryFunction.DIV, scores, number(graph, Math.sqrt(6))));
    assertThat(raised.operations()).containsExactly("attention");
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.scale()).isEqualTo(1 / Math.sqrt(6), within());
    assertThat(attention.mask()).isFalse();
    assertThat(attention.causal()).isFalse();
    raised.agrees(TOLERANCE, FIVE);
  }

  private static org.assertj.core.data.Offset<Double> within() {
    return org.assertj.core.data.Offset.offset(1e-6);
  }

  @Test
  void scaleSplitBetweenQueriesAndKeys() {
    Raised raised =
        Raised.of(
            graph -> {
              Value root = number(graph, Math.pow(6, -0.25));
              Value q = input(graph, "q", Dim.of(2), Dim.of(4), SEQ, Dim.of(6));
              Value k = input(graph, "k", Dim.of(2), Dim.of(4), SEQ, Dim.of(6));
              Value transposed = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), k);
              Value product =
                  graph.add(
                      new Contraction.MatMul(ElementType.F32),
                      mul(graph, q, root),
                      mul(graph, transposed, root));
              return weigh(graph, product, "v");
            });
    assertThat(raised.operations()).containsExactly("attention");
    assertThat(raised.only(Structured.Attention.class).scale())
        .isEqualTo(1 / Math.sqrt(6), within());
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void causalMaskFromPositionsWithAnyPenalty() {
    for (double hidden : new double[] {Double.NEGATIVE_INFINITY, -3.4028235e38, -65504}) {
      Raised raised =
          attention((graph, scores) -> add(graph, scores, additive(graph, causal(graph), hidden)));
      assertThat(raised.operations()).containsExactly("attention");
      Structured.Attention attention = raised.only(Structured.Attention.class);
      assertThat(attention.causal()).isTrue();
      assertThat(attention.offset()).isEqualTo(Dim.ZERO);
      assertThat(attention.mask()).isFalse();
      raised.agrees(TOLERANCE, FIVE);
    }
  }

  @Test
  void causalMasksNeedALargePenalty() {
    Raised raised =
        attention((graph, scores) -> add(graph, scores, additive(graph, causal(graph), -10)));
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.causal()).isFalse();
    assertThat(attention.mask()).isTrue();
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void hiddenScoresReplaced() {
    Raised raised =
        attention(
            (graph, scores) ->
                graph.add(new Elementwise.Select(), causal(graph), scores, number(graph, -1e9)));
    assertThat(raised.operations()).containsExactly("attention");
    assertThat(raised.only(Structured.Attention.class).causal()).isTrue();
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void slidingWindow() {
    Raised raised =
        attention(
            (graph, scores) -> {
              Value bound =
                  binary(
                      graph,
                      BinaryFunction.SUB,
                      positions(graph, Dim.ONE, Dim.ONE, SEQ, Dim.ONE),
                      graph.constant(Tensor.scalar(ElementType.I64, 3)));
              Value near =
                  binary(
                      graph,
                      BinaryFunction.GREATER,
                      positions(graph, Dim.ONE, Dim.ONE, Dim.ONE, SEQ),
                      bound);
              Value visible = binary(graph, BinaryFunction.AND, causal(graph), near);
              return add(graph, scores, additive(graph, visible, -3.4028235e38));
            });
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.causal()).isTrue();
    assertThat(attention.window()).isEqualTo(3);
    assertThat(attention.mask()).isFalse();
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void paddingRemainsAMask() {
    Raised raised =
        attention(
            (graph, scores) -> {
              Value padding =
                  graph.input(
                      "attention_mask", new TensorType(ElementType.BOOL, Shape.of(Dim.of(2), SEQ)));
              Value rows =
                  graph.add(
                      new Movement.Reshape(Shape.of(Dim.of(2), Dim.ONE, Dim.ONE, SEQ)), padding);
              Value visible = binary(graph, BinaryFunction.AND, causal(graph), rows);
              return add(graph, scores, additive(graph, visible, -3.4028235e38));
            });
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.mask()).isTrue();
    assertThat(attention.causal()).isFalse();
    raised.agrees(TOLERANCE, FIVE);
  }

  /** A row of padding sees no key. The model then weighs all keys equally, hidden twice or once. */
  @Test
  void keysMayBeHiddenTwice() {
    Raised raised =
        attention(
            (graph, scores) -> {
              Value padding =
                  graph.input(
                      "attention_mask", new TensorType(ElementType.BOOL, Shape.of(Dim.of(2), SEQ)));
              Value rows =
                  graph.add(
                      new Movement.Reshape(Shape.of(Dim.of(2), Dim.ONE, Dim.ONE, SEQ)), padding);
              Value lowest = number(graph, -3.4028235e38);
              Value past = graph.add(new Elementwise.Select(), causal(graph), scores, lowest);
              return graph.add(new Elementwise.Select(), rows, past, lowest);
            });
    assertThat(raised.only(Structured.Attention.class).mask()).isTrue();
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void windowsMayBeHiddenAfterLaterKeys() {
    Raised raised =
        attention(
            (graph, scores) -> {
              Value bound =
                  binary(
                      graph,
                      BinaryFunction.SUB,
                      positions(graph, Dim.ONE, Dim.ONE, SEQ, Dim.ONE),
                      graph.constant(Tensor.scalar(ElementType.I64, 3)));
              Value near =
                  binary(
                      graph,
                      BinaryFunction.GREATER,
                      positions(graph, Dim.ONE, Dim.ONE, Dim.ONE, SEQ),
                      bound);
              Value lowest = number(graph, -3.4028235e38);
              Value past = graph.add(new Elementwise.Select(), causal(graph), scores, lowest);
              return graph.add(new Elementwise.Select(), near, past, lowest);
            });
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.causal()).isTrue();
    assertThat(attention.window()).isEqualTo(3);
    assertThat(attention.mask()).isFalse();
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void softCap() {
    Raised raised =
        attention(
            (graph, scores) -> {
              Value scaled = mul(graph, scores, number(graph, 0.4));
              Value ratio = binary(graph, BinaryFunction.DIV, scaled, number(graph, 50));
              return mul(graph, unary(graph, UnaryFunction.TANH, ratio), number(graph, 50));
            });
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.softCap()).isEqualTo(50);
    assertThat(attention.scale()).isEqualTo(0.4, within());
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void guardAgainstFullyMaskedRows() {
    Raised raised =
        Raised.of(
            graph -> {
              Value q = input(graph, "q", 1, 2, 5, 6);
              Value k = input(graph, "k", 1, 2, 5, 6);
              Value p = graph.add(new Reduction.Softmax(3, false), scores(graph, q, k));
              Value isNan = unary(graph, UnaryFunction.IS_NAN, p);
              Value guarded = graph.add(new Elementwise.Select(), isNan, number(graph, 0), p);
              return graph.add(
                  new Contraction.MatMul(ElementType.F32), guarded, input(graph, "v", 1, 2, 5, 6));
            });
    assertThat(raised.operations()).containsExactly("attention");
    raised.agrees(TOLERANCE);
  }

  @Test
  void batchAndHeadsMerged() {
    Raised raised =
        Raised.of(
            graph -> {
              Value q = input(graph, "q", 8, 5, 6);
              Value k =
                  graph.add(new Movement.Transpose(List.of(0, 2, 1)), input(graph, "k", 8, 5, 6));
              Value p =
                  graph.add(
                      new Reduction.Softmax(2, false),
                      graph.add(new Contraction.MatMul(ElementType.F32), q, k));
              return graph.add(
                  new Contraction.MatMul(ElementType.F32), p, input(graph, "v", 8, 5, 6));
            });
    assertThat(raised.operations()).contains("attention").doesNotContain("softmax", "matmul");
    raised.agrees(TOLERANCE);
  }

  private static Value repeated(GraphBuilder graph, Value x) {
    Value apart =
        graph.add(new Movement.Reshape(Shape.of(Dim.of(2), Dim.of(2), Dim.ONE, SEQ, Dim.of(6))), x);
    Value expanded =
        graph.add(
            new Movement.Broadcast(Shape.of(Dim.of(2), Dim.of(2), Dim.of(2), SEQ, Dim.of(6))),
            apart);
    return graph.add(
        new Movement.Reshape(Shape.of(Dim.of(2), Dim.of(4), SEQ, Dim.of(6))), expanded);
  }

  @Test
  void repeatedKeyValueHeadsAreShared() {
    Raised raised =
        Raised.of(
            graph -> {
              Value q = input(graph, "q", Dim.of(2), Dim.of(4), SEQ, Dim.of(6));
              Value k = input(graph, "k", Dim.of(2), Dim.of(2), SEQ, Dim.of(6));
              Value v = input(graph, "v", Dim.of(2), Dim.of(2), SEQ, Dim.of(6));
              Value p =
                  graph.add(new Reduction.Softmax(3, false), scores(graph, q, repeated(graph, k)));
              return graph.add(new Contraction.MatMul(ElementType.F32), p, repeated(graph, v));
            });
    assertThat(raised.operations()).containsExactly("attention");
    raised.agrees(TOLERANCE, FIVE);
  }

  @Test
  void scalesPerKeyAreNotAttention() {
    Raised raised = attention((graph, scores) -> mul(graph, scores, input(graph, "scale", SEQ)));
    assertThat(raised.operations()).contains("softmax").doesNotContain("attention");
    raised.agrees(0, FIVE);
  }

  @Test
  void softmaxOverQueriesIsNotAttention() {
    Raised raised =
        Raised.of(
            graph -> {
              Value q = input(graph, "q", 1, 2, 5, 6);
              Value k = input(graph, "k", 1, 2, 5, 6);
              Value p = graph.add(new Reduction.Softmax(2, false), scores(graph, q, k));
              return graph.add(
                  new Contraction.MatMul(ElementType.F32), p, input(graph, "v", 1, 2, 5, 6));
            });
    assertThat(raised.operations()).contains("softmax").doesNotContain("attention");
  }

  @Test
  void constantCausalMaskOfAStaticShape() {
    Raised raised =
        Raised.of(
            graph -> {
              float[] mask = new float[15];
              for (int i = 0; i < 15; i++) {
                mask[i] = i % 5 <= i / 5 + 2 ? 0 : Float.NEGATIVE_INFINITY;
              }
              Value q = input(graph, "q", 1, 2, 3, 6);
              Value k = input(graph, "k", 1, 2, 5, 6);
              Value scores =
                  add(
                      graph,
                      scores(graph, q, k),
                      graph.constant(Tensor.floats(Shape.of(1, 1, 3, 5), mask)));
              Value p = graph.add(new Reduction.Softmax(3, false), scores);
              return graph.add(
                  new Contraction.MatMul(ElementType.F32), p, input(graph, "v", 1, 2, 5, 6));
            });
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.causal()).isTrue();
    assertThat(attention.offset()).isEqualTo(Dim.of(2));
    raised.agrees(TOLERANCE);
  }
}
