package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.binary;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.number;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/**
 * Operations of exporters between the product of queries and keys and the product with the values.
 */
class ScoreRulesTest {
  /** Scores of 6 products and a softmax over 5 keys, scaled and summed in another order. */
  private static final double TOLERANCE = 1e-5;

  private static final double LOWEST = -Float.MAX_VALUE;

  private static Value matmul(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Contraction.MatMul(ElementType.F32), left, right);
  }

  private static Value reshape(GraphBuilder graph, Value x, long... extents) {
    return graph.add(new Movement.Reshape(Shape.of(extents)), x);
  }

  /** Attention over 5 keys of three queries, with a function of the scores. */
  private static Raised attention(long[] leading, BiFunction<GraphBuilder, Value, Value> softmax) {
    return attention(leading, leading, softmax);
  }

  private static Raised attention(
      long[] leading, long[] shared, BiFunction<GraphBuilder, Value, Value> softmax) {
    return Raised.of(
        graph -> {
          Value q = input(graph, "q", with(leading, 3, 6));
          Value k = input(graph, "k", with(shared, 6, 5));
          Value v = input(graph, "v", with(shared, 5, 6));
          return matmul(graph, softmax.apply(graph, matmul(graph, q, k)), v);
        });
  }

  private static long[] with(long[] leading, long rows, long columns) {
    long[] extents = java.util.Arrays.copyOf(leading, leading.length + 2);
    extents[leading.length] = rows;
    extents[leading.length + 1] = columns;
    return extents;
  }

  private static Value softmax(GraphBuilder graph, Value scores) {
    return graph.add(new Reduction.Softmax(scores.type().rank() - 1, false), scores);
  }

  private static Value select(GraphBuilder graph, Value condition, Value then, Value otherwise) {
    return graph.add(new Elementwise.Select(), condition, then, otherwise);
  }

  private static Value mask(GraphBuilder graph, long... extents) {
    return graph.input("mask", TensorType.of(ElementType.BOOL, extents));
  }

  private static Raised floored(double lowest, double hidden) {
    return attention(
        new long[] {2, 4},
        (graph, scores) -> {
          Value visible = mask(graph, 2, 1, 3, 5);
          Value penalty = select(graph, visible, number(graph, 0), number(graph, hidden));
          Value sum = add(graph, scores, penalty);
          return softmax(graph, binary(graph, BinaryFunction.MAX, sum, number(graph, lowest)));
        });
  }

  @Test
  void unreachedFloorsAreRemoved() {
    Raised raised = floored(LOWEST, LOWEST);
    assertThat(raised.operations()).contains("attention").doesNotContain("max", "softmax");
    raised.agrees(TOLERANCE);
  }

  @Test
  void reachedFloorsMoveToTheMask() {
    Raised raised = floored(LOWEST, Double.NEGATIVE_INFINITY);
    assertThat(raised.operations()).contains("attention", "max").doesNotContain("softmax");
    raised.agrees(TOLERANCE);
  }

  @Test
  void floorsThatScoresReachAreNotAttention() {
    Raised raised = floored(-1, LOWEST);
    assertThat(raised.operations()).contains("softmax").doesNotContain("attention");
    raised.agrees(0);
  }

  /** The scores of two images with two windows each, masked by window. */
  private static Raised windows(long... extents) {
    return attention(
        new long[] {4, 2},
        (graph, scores) -> {
          Value biased = add(graph, scores, weight(graph, 1, 2, 3, 5));
          Value apart = reshape(graph, biased, 2, 2, 2, 3, 5);
          Value masked = add(graph, apart, input(graph, "windows", extents));
          return softmax(graph, reshape(graph, masked, 4, 2, 3, 5));
        });
  }

  @Test
  void windowsAreBatches() {
    Raised raised = windows(1, 2, 1, 3, 5);
    assertThat(raised.operations()).contains("attention").doesNotContain("softmax");
    raised.agrees(TOLERANCE);
  }

  @Test
  void masksKeepTheirWindowsBatchesAndHeads() {
    windows(2, 1, 1, 3, 5).agrees(TOLERANCE);
    windows(2, 1, 2, 1, 5).agrees(TOLERANCE);
    windows(1, 1, 2, 3, 1).agrees(TOLERANCE);
    windows(2, 2, 2, 3, 5).agrees(TOLERANCE);
    windows(2, 3, 5).agrees(TOLERANCE);
    assertThat(windows(2, 2, 2, 3, 5).operations()).contains("attention");
  }

  @Test
  void batchesWindowsAndHeadsMayBeThreeDimensions() {
    Raised raised =
        attention(
            new long[] {2, 3, 4},
            (graph, scores) -> softmax(graph, add(graph, scores, input(graph, "m", 3, 1, 3, 5))));
    assertThat(raised.operations()).contains("attention").doesNotContain("softmax");
    raised.agrees(TOLERANCE);
  }

  @Test
  void groupedQueriesShareUnrepeatedHeads() {
    Raised raised =
        attention(
            new long[] {2, 3, 2}, new long[] {2, 3, 1}, (graph, scores) -> softmax(graph, scores));
    Structured.Attention attention = raised.only(Structured.Attention.class);
    assertThat(attention.mask()).isFalse();
    raised.agrees(TOLERANCE);
  }

  @Test
  void computedBiasesAreMasks() {
    Raised raised =
        attention(
            new long[] {8},
            (graph, scores) -> {
              Value positions = matmul(graph, input(graph, "r", 8, 3, 2), weight(graph, 8, 2, 5));
              return softmax(graph, add(graph, scores, positions));
            });
    assertThat(raised.operations()).contains("attention").doesNotContain("softmax");
    raised.agrees(TOLERANCE);
  }

  /** Scores that a mask hides, and probabilities that {@code zeroing} clears. */
  private static Raised zeroed(BiFunction<GraphBuilder, Value, Value> zeroing) {
    return attention(
        new long[] {2, 4},
        (graph, scores) -> {
          Value hidden = mask(graph, 2, 1, 3, 5);
          Value p = softmax(graph, select(graph, hidden, number(graph, LOWEST), scores));
          return select(graph, zeroing.apply(graph, hidden), number(graph, 0), p);
        });
  }

  @Test
  void probabilitiesClearedByTheirMask() {
    Raised raised = zeroed((graph, hidden) -> hidden);
    assertThat(raised.operations()).contains("attention").doesNotContain("softmax");
    raised.agrees(TOLERANCE);
  }

  @Test
  void probabilitiesClearedByAnotherMaskAreNotAttention() {
    Raised raised =
        zeroed((graph, hidden) -> graph.input("other", TensorType.of(ElementType.BOOL, 3, 5)));
    assertThat(raised.operations()).contains("softmax").doesNotContain("attention");
    raised.agrees(0);
  }

  @Test
  void mergedValuesTellHeadsFromBatches() {
    Raised raised =
        Raised.of(
            graph -> {
              Value q = input(graph, "q", 8, 3, 6);
              Value k = input(graph, "k", 8, 6, 5);
              Value v = reshape(graph, input(graph, "v", 2, 4, 5, 6), 8, 5, 6);
              Value masked = add(graph, matmul(graph, q, k), input(graph, "mask", 8, 1, 5));
              return matmul(graph, softmax(graph, masked), v);
            });
    assertThat(heads(raised)).isEqualTo(4);
    raised.agrees(TOLERANCE);
  }

  @Test
  void scoresWithBatchAndHeadsSeparatedBeforeTheValues() {
    Raised raised =
        Raised.of(
            graph -> {
              Value product = matmul(graph, input(graph, "q", 8, 3, 6), input(graph, "k", 8, 6, 5));
              Value biased = add(graph, product, input(graph, "alibi", 8, 1, 5));
              Value apart = reshape(graph, biased, 2, 4, 3, 5);
              Value masked = add(graph, apart, input(graph, "mask", 2, 1, 3, 5));
              return matmul(graph, softmax(graph, masked), input(graph, "v", 2, 4, 5, 6));
            });
    assertThat(heads(raised)).isEqualTo(4);
    raised.agrees(TOLERANCE);
  }

  @Test
  void indistinguishableHeadsAndBatchesStayMerged() {
    Raised raised = attention(new long[] {8}, ScoreRulesTest::softmax);
    assertThat(heads(raised)).isEqualTo(8);
    raised.agrees(TOLERANCE);
  }

  @Test
  void keysOfAnOpenLengthTellHeadsFromBatches() {
    Dim batch = Dim.symbol("batch");
    Dim length = Dim.symbol("length");
    Raised raised =
        Raised.of(
            graph -> {
              Value q = input(graph, "q", batch.times(Dim.of(4)), Dim.of(3), Dim.of(6));
              Value keys = input(graph, "k", batch, Dim.of(4), length, Dim.of(6));
              Shape joined = Shape.of(batch.times(Dim.of(4)), length, Dim.of(6));
              Value k = graph.add(new Movement.Reshape(joined), keys);
              Value v = input(graph, "v", joined.dim(0), length, Dim.of(6));
              Value transposed = graph.add(new Movement.Transpose(List.of(0, 2, 1)), k);
              return matmul(graph, softmax(graph, matmul(graph, q, transposed)), v);
            });
    assertThat(heads(raised)).isEqualTo(4);
    raised.agrees(TOLERANCE, Map.of("batch", Dim.of(2), "length", Dim.of(5)));
  }

  @Test
  void temperaturesPerHeadScaleQueries() {
    for (long[] extents : new long[][] {{4, 1, 1}, {2, 1, 3, 1}, {1}, {}}) {
      Raised raised =
          attention(
              new long[] {2, 4},
              (graph, scores) -> {
                Value tempered =
                    binary(graph, BinaryFunction.DIV, scores, input(graph, "t", extents));
                return softmax(graph, add(graph, tempered, weight(graph, 4, 3, 5)));
              });
      assertThat(raised.operations()).contains("attention").doesNotContain("softmax");
      raised.agrees(1e-4);
    }
  }

  @Test
  void temperaturesOfMasksAreNotAttention() {
    Raised raised =
        attention(
            new long[] {2, 4},
            (graph, scores) -> {
              Value masked = add(graph, scores, weight(graph, 4, 3, 5));
              return softmax(graph, mul(graph, masked, input(graph, "t", 4, 1, 1)));
            });
    assertThat(raised.operations()).contains("softmax").doesNotContain("attention");
    raised.agrees(0);
  }

  private static Value einsum(GraphBuilder graph, String equation, Value... operands) {
    return graph.add(new Contraction.Einsum(equation), operands);
  }

  @Test
  void attentionOfEinsumsWithTheSequenceFirst() {
    Raised raised =
        Raised.of(
            graph -> {
              Value x = input(graph, "x", 5, 2, 8);
              Value q = einsum(graph, "ibh,hnd->ibnd", x, weight(graph, 8, 4, 6));
              Value k = einsum(graph, "ibh,hnd->ibnd", x, weight(graph, 8, 4, 6));
              Value v = einsum(graph, "hnd,ibh->ibnd", weight(graph, 8, 4, 6), x);
              Value p = softmax(graph, einsum(graph, "ibnd,jbnd->bnij", q, k));
              Value joined = einsum(graph, "bnij,jbnd->ibnd", p, v);
              return einsum(graph, "ibnd,hnd->ibh", joined, weight(graph, 8, 4, 6));
            });
    assertThat(raised.operations()).contains("attention", "linear");
    assertThat(raised.operations()).doesNotContain("softmax", "matmul", "einsum");
    assertThat(heads(raised)).isEqualTo(4);
    raised.agrees(TOLERANCE);
  }

  @Test
  void einsumsOfOneOperandOrWithoutRowsOrColumns() {
    Raised.of(graph -> einsum(graph, "ijb->bij", input(graph, "x", 2, 3, 4))).agrees(0);
    for (String equation :
        new String[] {"bi,bij->bj", "bij,bj->bi", "bik,bkj->jib", "ibk,bkj->ij", "bki,bkj->bij"}) {
      Raised raised =
          Raised.of(
              graph -> {
                String[] inputs = equation.substring(0, equation.indexOf('-')).split(",");
                Value x = input(graph, "x", threes(inputs[0]));
                return einsum(graph, equation, x, input(graph, "y", threes(inputs[1])));
              });
      raised.agrees(TOLERANCE);
      assertThat(raised.operations()).as(equation).doesNotContain("einsum");
    }
  }

  @Test
  void einsumsOtherThanProductsStay() {
    for (String equation : new String[] {"bi,bj->bij", "bik,kj->ij", "ii,ij->ij"}) {
      Raised raised =
          Raised.of(
              graph -> {
                String[] inputs = equation.substring(0, equation.indexOf('-')).split(",");
                Value x = input(graph, "x", threes(inputs[0]));
                return einsum(graph, equation, x, input(graph, "y", threes(inputs[1])));
              });
      assertThat(raised.operations()).as(equation).containsExactly("einsum");
    }
  }

  private static long[] threes(String letters) {
    return letters.chars().mapToLong(c -> 3).toArray();
  }

  private static long heads(Raised raised) {
    return raised.graph().nodes().stream()
        .filter(node -> node.op() instanceof Structured.Attention)
        .findFirst()
        .orElseThrow()
        .operand(0)
        .type()
        .dim(1)
        .value();
  }
}
