package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Distribution;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Two trained character-level Llamas in C write the same text on any number of chips. */
@Timeout(600)
class ChipTextTest {
  private static final int CONTEXT = 256;
  private static final String TINY = "tiny-shakespeare";
  private static final String LARGE = "shakespeare-llama";

  /** Characters, with the prompt, that the larger one writes here: the rest is the same again. */
  private static final int ENOUGH = 48;

  @BeforeAll
  static void requireCompiler() {
    EmittedC.requireCompiler();
  }

  private static TrainedModel model(String name) {
    return new TrainedModel(
        name.equals(TINY)
            ? Path.of("../models", TINY)
            : SharedFolder.require("models/" + name, "it comes with the project's shared data"));
  }

  static Stream<Arguments> modelsAndChips() {
    return Stream.of(TINY, LARGE)
        .flatMap(name -> Stream.of(1, 2, 3, 4, 8).map(n -> Arguments.of(name, n)));
  }

  @ParameterizedTest(name = "{0} on {1} chips")
  @MethodSource("modelsAndChips")
  void chipsWriteTheGreedyText(String name, int chips) {
    writesTheGreedyText(model(name), EmittedC.runner(Distribution.strategy(chips, null)));
  }

  @ParameterizedTest(name = "{0} chips, {1}")
  @CsvSource({"1, early", "1, late", "2, early", "2, late"})
  void sanitizersFindNothing(int chips, String transfers) {
    writesTheGreedyText(
        model(TINY), EmittedC.sanitised(Distribution.strategy(chips, null), transfers));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      value = {"pipeline=2,tensor=2", "tensor=4,norm=root"})
  void anyStrategyWritesTheGreedyText(String strategy) {
    writesTheGreedyText(model(TINY), EmittedC.runner(Distribution.strategy(null, strategy)));
  }

  private static void writesTheGreedyText(TrainedModel model, ModuleRunner runner) {
    long[] all = model.array("greedy.npz", "tokens").longs();
    long[] expected = Arrays.copyOf(all, Math.min(all.length, ENOUGH));
    int prompt = model.array("greedy.npz", "prompt").size();
    long[] tokens = Arrays.copyOf(Arrays.copyOf(expected, prompt), expected.length);
    try (CachedDecoder decoder = CachedDecoder.stateful(model.network("decode"), CONTEXT, runner)) {
      for (int i = 1; i < tokens.length; i++) {
        Tensor logits = decoder.next(tokens[i - 1], i - 1);
        tokens[i] = i < prompt ? tokens[i] : best(logits);
      }
    }
    assertThat(model.text(LongStream.of(tokens))).isEqualTo(model.text(LongStream.of(expected)));
  }

  private static int best(Tensor logits) {
    List<Integer> order = java.util.stream.IntStream.range(0, logits.size()).boxed().toList();
    return order.stream().reduce(0, (a, b) -> logits.getDouble(b) > logits.getDouble(a) ? b : a);
  }
}
