package io.partita.tests.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.passes.mesh.shard.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that results don't change with heads split inside, unequal and idle devices, replicated
 * weights, and three kinds of parallelism combined.
 */
class StrategyOptionsTest {
  private static final List<Strategy> STRATEGIES =
      Stream.of(
              "tensor=8,inside=2",
              "tensor=4,inside=4",
              "tensor=3,capacities=2:1:1",
              "tensor=4,capacities=0:5:1:1,norm=root",
              "tensor=7,norm=tokens",
              "tensor=4,inside=2,norm=tokens",
              "pipeline=2,tensor=3,norm=tokens",
              "sequence=2,tensor=3,norm=tokens",
              "tensor=7,norm=columns",
              "pipeline=2,tensor=3,norm=columns",
              "tensor=5,vocabulary=replicated,remaining=replicated",
              "sequence=3,tensor=4,inside=2",
              "pipeline=2,sequence=2,tensor=2",
              "tensor=2,pipeline=2",
              "tensor=2,sequence=3,norm=root",
              "pipeline=2,sequence=3")
          .map(Strategy::parse)
          .toList();

  /** A model runs with one in this many of them by default, and with one more if thorough. */
  private static final int EACH = 4;

  /** One model for each form of attention. */
  private static final List<String> MODELS =
      List.of(
          "gemma2/ts_eager",
          "gpt_neox/dynamo_eager",
          "llama/dynamo_sdpa_kv, compiled",
          "llama/ts_f16",
          "llama/ts_mqa",
          "mobilebert/ts_sdpa_dynamic",
          "optimized/hand_llama_gqa_packed",
          "quantized/vit_qoperator",
          "tiny-shakespeare/prefill");

  static Stream<Subject> models() {
    return Stream.of(Subjects.fixtures(), Subjects.decoders(), Subjects.trained())
        .flatMap(List::stream)
        .filter(subject -> MODELS.contains(subject.toString()));
  }

  /** The strategies of all models together are all there are. */
  @ParameterizedTest
  @MethodSource("models")
  void someChangeNoResult(Subject subject) {
    changeNoResult(subject, number -> number == 0);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("models")
  void othersChangeNoResult(Subject subject) {
    changeNoResult(subject, number -> number == 1);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @MethodSource("models")
  void allOthersChangeNoResult(Subject subject) {
    changeNoResult(subject, number -> number > 1);
  }

  private static void changeNoResult(Subject subject, IntPredicate chosen) {
    int model = MODELS.indexOf(subject.toString());
    List<Strategy> strategies =
        IntStream.range(0, STRATEGIES.size())
            .filter(number -> chosen.test(Math.floorMod(number - model, EACH)))
            .mapToObj(STRATEGIES::get)
            .toList();
    List<Matrix.Cell> cells = new ArrayList<>();
    Matrix.run(subject, subject.load(), Map.of(Engine.EVALUATOR, strategies), cells::add);
    assertThat(cells).isNotEmpty().allMatch(cell -> cell.outcome() instanceof Outcome.Agrees);
  }

  @Test
  void allModelsExist() {
    assertThat(models()).hasSize(MODELS.size());
  }
}
