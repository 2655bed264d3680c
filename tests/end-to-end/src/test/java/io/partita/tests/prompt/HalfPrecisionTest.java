package io.partita.tests.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import io.partita.driver.JavaTarget;
import io.partita.driver.ModelFile;
import io.partita.driver.StandardPasses;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.chip.MetaliumTarget;
import io.partita.driver.chip.TargetSettings;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.element.StoreInBf16;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A decoder in bf16 on an emulated Tenstorrent chip against Java in f32, also with the weights of
 * products in bf8_b. {@code -Dbf16.model=FILE} names another ONNX file, and {@code -Dbf16.tokens=N}
 * another number of tokens.
 */
@Tag("thorough")
@Timeout(3600)
class HalfPrecisionTest {
  private static final Path MODEL = Path.of("../models/tiny-shakespeare/decode/network.onnx");
  private static final int TOKENS = Integer.getInteger("bf16.tokens", 64);

  /** {@code ROMEO:} in the vocabulary of these models. */
  private static final int[] PROMPT = {30, 27, 25, 17, 27, 10};

  /**
   * Both read the text that Java writes. bf16 has 8 bits of mantissa, so each of some hundred
   * values in a row is rounded by up to 2^-9, and in bf8_b, a weight by up to 2^-6 of the largest
   * one of its block; the issue that asked for these kernels wants a correlation of 0.99 for whole
   * models.
   */
  @ParameterizedTest
  @ValueSource(strings = "bf8_b")
  void logitsAndTokensAgreeWithJava(String weights) {
    assumeThat(Build.find("g++").isPresent() && Build.find("make").isPresent())
        .as("g++ and make")
        .isTrue();
    Module exact = decoder();
    List<Integer> text = new ArrayList<>();
    List<double[]> expected = new ArrayList<>();
    try (ModuleRunner.Prepared program = JavaTarget.USUAL.runner(Optional.empty()).prepare(exact)) {
      for (int position = 0; position < TOKENS; position++) {
        text.add(position < PROMPT.length ? PROMPT[position] : best(expected.getLast()));
        expected.add(logits(program, exact, text.getLast(), position));
      }
    }
    Module half = new StoreInBf16().run(exact);
    List<double[]> found = new ArrayList<>();
    try (ModuleRunner.Prepared program =
        MetaliumTarget.of("n150", new TargetSettings(Map.of("weights", weights)))
            .runner(Optional.empty())
            .prepare(half)) {
      for (int position = 0; position < TOKENS; position++) {
        found.add(logits(program, half, text.get(position), position));
      }
    }
    int same = 0;
    for (int position = 0; position < TOKENS; position++) {
      same += best(expected.get(position)) == best(found.get(position)) ? 1 : 0;
    }
    double correlation = correlation(expected, found);
    System.out.printf(
        "bf16 on the emulation, weights=%s: correlation %.6f, %d of %d tokens equal%n",
        weights, correlation, same, TOKENS);
    assertThat(correlation).isGreaterThan(0.99);
    assertThat(same).isGreaterThan(TOKENS * 9 / 10);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = "model")
  void logitsAndTokensWithTheWeightsOfTheModelAgreeWithJava(String weights) {
    logitsAndTokensAgreeWithJava(weights);
  }

  private static Module decoder() {
    Path model = Path.of(System.getProperty("bf16.model", MODEL.toString()));
    String passes = "simplify,raise,simplify,kv-state(capacity=" + TOKENS + "),simplify";
    return Pipeline.parse(passes, StandardPasses.REGISTRY)
        .run(ModelFile.read(model, Map.of(), Map.of()).module(), (pass, before, after) -> {});
  }

  private static double[] logits(
      ModuleRunner.Prepared program, Module module, int token, int position) {
    List<String> states = module.states().stream().map(Module.State::input).toList();
    List<Tensor> inputs =
        module.graph().inputs().stream()
            .filter(input -> !states.contains(input.name()))
            .map(
                input ->
                    Tensor.filled(
                        input.type(), input.name().equals("input_ids") ? token : position))
            .toList();
    return program.run(inputs).getFirst().doubles();
  }

  private static int best(double[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      best = logits[i] > logits[best] ? i : best;
    }
    return best;
  }

  private static double correlation(List<double[]> expected, List<double[]> found) {
    return Correlation.of(
        expected.stream().flatMapToDouble(Arrays::stream).toArray(),
        found.stream().flatMapToDouble(Arrays::stream).toArray());
  }
}
