package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Attention of bytes turns the values first if many queries read them, unless keys and values are
 * streamed. What follows it may quantize its result.
 */
class IntegerAttentionLoopsTest extends EvaluatedLoops {
  private static final String FEW =
      "[attention_scores_i8, attention_weights_u8, attention_values_i8]";
  private static final String MANY =
      "[attention_scores_i8, attention_weights_u8, attention_turn_i8, attention_turned_values_i8]";

  /** Keys and features aren't whole words. */
  private static Value attention(GraphBuilder graph, long queries, boolean causal) {
    return graph.add(
        new Attention(0.01, 0, causal, Dim.of(0), 0, false, false, 0.25),
        graph.input("q", TensorType.of(ElementType.I8, 1, 4, queries, 12)),
        graph.input("k", TensorType.of(ElementType.I8, 1, 2, 41, 12)),
        graph.input("v", TensorType.of(ElementType.I8, 1, 2, 41, 10)));
  }

  private List<String> loops(long queries, boolean causal, long l1) {
    return loops(graph -> attention(graph, queries, causal), l1);
  }

  private Value quantized(GraphBuilder graph, Value values) {
    return graph.add(
        new Quantized.Quantize(0, 0, ElementType.I8),
        values,
        weight(graph, ElementType.F32),
        weight(graph, ElementType.I8));
  }

  @ParameterizedTest
  @CsvSource({"1, 100000", "31, 100000", "31, 6000"})
  void readsValuesAsTheyAre(long queries, long l1) {
    assertThat(loops(queries, false, l1)).containsExactly(FEW);
  }

  @ParameterizedTest
  @CsvSource({"32, false, 100000", "39, true, 100000", "39, true, 6000", "39, false, 4000"})
  void turnsValuesOfManyQueries(long queries, boolean causal, long l1) {
    assertThat(loops(queries, causal, l1)).containsExactly(MANY);
  }

  /** Keys and values are streamed where the scores of a query leave no room for all of them. */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 2, 8, false, 0, 1000",
    "1, 3, 2, 9, true, 0, 700",
    "2, 1, 1, 4, false, 5, 1200",
    "1, 33, 2, 4, true, 7, 1500",
    "1, 4, 3, 12, false, 0, 2600"
  })
  void streamsKeysAndValues(
      int batch, int queries, int kvHeads, int d, boolean causal, int window, long l1) {
    assertThat(
            kernels(
                graph ->
                    graph.add(
                        new Attention(0.01, 0, causal, Dim.of(30), window, false, false, 0.25),
                        graph.input(
                            "q", TensorType.of(ElementType.I8, batch, 2 * kvHeads, queries, d)),
                        graph.input("k", TensorType.of(ElementType.I8, batch, kvHeads, 67, d)),
                        graph.input("v", TensorType.of(ElementType.I8, batch, kvHeads, 67, d + 1))),
                l1))
        .singleElement()
        .satisfies(loop -> assertThat(loop.axes()).extracting(TileAxis::name).contains("pass"));
  }

  @ParameterizedTest
  @CsvSource({"1, false, 100000", "7, true, 100000", "39, true, 100000"})
  void quantizesValuesInTheLoop(long queries, boolean causal, long l1) {
    String calls = queries < 32 ? FEW : MANY;
    assertThat(loops(graph -> quantized(graph, attention(graph, queries, causal)), l1))
        .containsExactly(calls.replace("]", ", quantize_f32_i8]"));
  }

  /** A gather needs the columns of all heads, which are quantized where each head has its own. */
  @ParameterizedTest
  @CsvSource({"1, 100000", "7, 100000", "39, 100000"})
  void quantizesValuesThatBecomeColumns(long queries, long l1) {
    List<String> loops =
        loops(
            graph -> {
              Value tokens =
                  graph.add(
                      new Movement.Transpose(List.of(0, 2, 1, 3)), attention(graph, queries, true));
              return quantized(
                  graph, graph.add(new Movement.Reshape(Shape.of(queries, 40)), tokens));
            },
            l1);
    String calls = queries < 32 ? FEW : MANY;
    assertThat(loops).containsExactly(calls.replace("]", ", quantize_f32_i8]"));
  }

  /** Keys and values leave no room then. */
  @ParameterizedTest
  @CsvSource({"1, false, 700", "7, true, 900"})
  void quantizesStreamedValuesInALoopOfItsOwn(long queries, boolean causal, long l1) {
    assertThat(kernels(graph -> quantized(graph, attention(graph, queries, causal)), l1))
        .hasSize(2)
        .first()
        .satisfies(loop -> assertThat(loop.axes()).extracting(TileAxis::name).contains("pass"));
  }

  @Test
  void appliesOtherFunctionsInLoopsOfTheirOwn() {
    assertThat(
            loops(
                graph ->
                    graph.add(
                        new Elementwise.Unary(UnaryFunction.TANH), attention(graph, 3, false)),
                ROOM))
        .containsExactly(FEW, "[tanh_f32]");
  }
}
