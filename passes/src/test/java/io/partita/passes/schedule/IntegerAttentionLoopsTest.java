package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.op.Structured.Attention;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Attention of bytes turns the values first if many queries read them, unless keys and values are
 * streamed.
 */
class IntegerAttentionLoopsTest extends EvaluatedLoops {
  private static final String FEW =
      "[attention_scores_i8, attention_weights_u8, attention_values_i8]";
  private static final String MANY =
      "[attention_scores_i8, attention_weights_u8, attention_turn_i8, attention_turned_values_i8]";

  /** Keys and features aren't whole words. */
  private List<String> loops(long queries, boolean causal, long l1) {
    return loops(
        graph ->
            graph.add(
                new Attention(0.01, 0, causal, Dim.of(0), 0, false, false, 0.25),
                graph.input("q", TensorType.of(ElementType.I8, 1, 4, queries, 12)),
                graph.input("k", TensorType.of(ElementType.I8, 1, 2, 41, 12)),
                graph.input("v", TensorType.of(ElementType.I8, 1, 2, 41, 10))),
        l1);
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
}
