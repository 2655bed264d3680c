package io.partita.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException;
import io.partita.zoo.Llama.FeedForward;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that ONNX Runtime loads the files, and that their results are suitable for tests. */
class ZooRunTest {
  private static final long[] PROMPT = {7, 301, 12, 12, 4000, 5, 918, 33};

  /**
   * Logits have a deviation near 1 and are sums of a few thousand products, whose roundings differ
   * between one row and many: sqrt(4000) * 2^-24 * a few layers is below 1e-4.
   */
  private static final float TOLERANCE = 1e-4f;

  /** A small model with grouped heads, gates, scaled rotation and a separate LM head. */
  private static final ZooModel SMALL_LLAMA_3 =
      new ZooModel(
          "small-llama-3",
          "Llama 3.1 in small",
          new Llama(
              4096,
              64,
              192,
              2,
              new Attention(8, 2, 8),
              FeedForward.GATED_SILU,
              new Rotary(8, 500_000, Optional.of(new Rotary.Scaling(8, 1, 4, 8192))),
              false,
              64,
              1024),
          8,
          8,
          true);

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = "tinyllama-42m")
  void decodingAgreesWithThePrompt(String name) throws IOException, OrtException {
    decodingAgreesWithThePrompt(Zoo.model(name));
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"gpt2-small", "tinyllama-42m-gated"})
  void decodingOfVariantsAgreesWithThePrompt(String name) throws IOException, OrtException {
    decodingAgreesWithThePrompt(Zoo.model(name));
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = "tinyllama-42m-64h")
  void decodingOfManyHeadsAgreesWithThePrompt(String name) throws IOException, OrtException {
    decodingOfVariantsAgreesWithThePrompt(name);
  }

  @Tag("thorough")
  @Test
  void decodingWithGroupedHeadsAgreesWithThePrompt() throws IOException, OrtException {
    decodingAgreesWithThePrompt(SMALL_LLAMA_3);
  }

  private void decodingAgreesWithThePrompt(ZooModel model) throws IOException, OrtException {
    ZooOptions options = ZooOptions.defaults().withLayers(2).withSeed(3);
    Path promptFile = folder.resolve("prompt.onnx");
    Path decodeFile = folder.resolve("decode.onnx");
    ModelFiles.write(model, options.withSequence(PROMPT.length), promptFile);
    ModelFiles.write(model, options.withMode(Mode.DECODE).withDynamic(true), decodeFile);
    float[] logits;
    try (OnnxRun prompt = new OnnxRun(promptFile)) {
      logits = prompt.run(Map.of("input_ids", prompt.tokens(PROMPT))).get("logits").values();
    }
    assertUseful(logits);
    int vocabulary = logits.length / PROMPT.length;
    Map<String, OnnxRun.Output> last = Map.of();
    try (OnnxRun decode = new OnnxRun(decodeFile)) {
      for (int step = 0; step < PROMPT.length; step++) {
        last = decode.run(decodeInputs(decode, model, step, last));
        float[] row = last.get("logits").values();
        assertThat(row).hasSize(vocabulary);
        int start = step * vocabulary;
        assertClose(row, Arrays.copyOfRange(logits, start, start + vocabulary));
      }
    }
  }

  /** Returns the caches of the previous step, or empty ones. */
  private static Map<String, OnnxTensor> decodeInputs(
      OnnxRun decode, ZooModel model, int step, Map<String, OnnxRun.Output> last)
      throws OrtException {
    Attention attention =
        switch (model.architecture()) {
          case Llama llama -> llama.attention();
          case Gpt2 gpt2 -> gpt2.attention();
          case Bert bert -> bert.attention();
          case VisionTransformer vision -> vision.attention();
          case FeatureEncoder encoder -> encoder.attention();
        };
    Map<String, OnnxTensor> inputs = new LinkedHashMap<>();
    inputs.put("input_ids", decode.tokens(PROMPT[step]));
    inputs.put("position", decode.position(step));
    for (String name : decode.inputNames()) {
      if (name.startsWith("past_")) {
        OnnxRun.Output present = last.get(name.replace("past_", "present_"));
        float[] values = present == null ? new float[0] : present.values();
        long[] shape = {1, attention.kvHeads(), step, attention.headSize()};
        if (present != null) {
          assertThat(present.shape()).containsExactly(shape);
        }
        inputs.put(name, decode.floats(values, shape));
      }
    }
    return inputs;
  }

  @Tag("thorough")
  @Test
  void staticAndDynamicPromptsAgree() throws IOException, OrtException {
    staticAndDynamicPromptsAgree("tinyllama-42m");
  }

  @Tag("exhaustive")
  @Test
  void staticAndDynamicPromptsOfALargeModelAgree() throws IOException, OrtException {
    staticAndDynamicPromptsAgree("gpt2-medium");
  }

  private void staticAndDynamicPromptsAgree(String name) throws IOException, OrtException {
    agree(name, "logits", ZooOptions.defaults().withLayers(1).withSequence(PROMPT.length));
  }

  @Tag("thorough")
  @Test
  void staticAndDynamicEncodersAgree() throws IOException, OrtException {
    agree(
        "mobilebert",
        "last_hidden_state",
        ZooOptions.defaults().withLayers(2).withSequence(PROMPT.length));
  }

  /** A block alone decodes features to what it makes of them in a prompt. */
  @ParameterizedTest
  @ValueSource(strings = {"tinyllama-42m-block", "tinyllama-42m-64h-block"})
  void blocksAloneDecodeAsThePrompt(String name) throws IOException, OrtException {
    ZooModel model = Zoo.model(name);
    Path promptFile = folder.resolve("prompt.onnx");
    Path decodeFile = folder.resolve("decode.onnx");
    int tokens = 3;
    ZooOptions options = ZooOptions.defaults();
    ModelFiles.write(model, options.withSequence(tokens), promptFile);
    ModelFiles.write(model, options.withMode(Mode.DECODE).withDynamic(true), decodeFile);
    float[] features = new float[tokens * 512];
    for (int i = 0; i < features.length; i++) {
      features[i] = i * 37 % 255 / 127.5f - 1;
    }
    float[] expected;
    try (OnnxRun prompt = new OnnxRun(promptFile)) {
      expected =
          prompt
              .run(Map.of("features", prompt.floats(features, 1, tokens, 512)))
              .get("last_hidden_state")
              .values();
    }
    assertUseful(expected);
    Map<String, OnnxRun.Output> last = Map.of();
    try (OnnxRun decode = new OnnxRun(decodeFile)) {
      for (int step = 0; step < tokens; step++) {
        Map<String, OnnxTensor> inputs = decodeInputs(decode, model, step, last);
        float[] own = Arrays.copyOfRange(features, step * 512, (step + 1) * 512);
        inputs.remove("input_ids");
        inputs.put("features", decode.floats(own, 1, 1, 512));
        last = decode.run(inputs);
        assertClose(
            last.get("last_hidden_state").values(),
            Arrays.copyOfRange(expected, step * 512, (step + 1) * 512));
      }
    }
  }

  private void agree(String name, String output, ZooOptions options)
      throws IOException, OrtException {
    float[] fixed = run(name, options, output);
    float[] open = run(name, options.withDynamic(true), output);
    assertUseful(fixed);
    assertClose(open, fixed);
  }

  private float[] run(String name, ZooOptions options, String output)
      throws IOException, OrtException {
    Path file = folder.resolve("model.onnx");
    Zoo.write(name, options, file);
    try (OnnxRun model = new OnnxRun(file)) {
      return model.run(Map.of("input_ids", model.tokens(PROMPT))).get(output).values();
    }
  }

  @Test
  void decodesWithAFixedCache() throws IOException, OrtException {
    Path file = folder.resolve("model.onnx");
    ZooOptions options = ZooOptions.defaults().withLayers(1).withMode(Mode.DECODE);
    Zoo.write("tinyllama-42m", options, file);
    try (OnnxRun model = new OnnxRun(file)) {
      assertThat(model.inputNames())
          .containsExactly("input_ids", "position", "past_key_0", "past_value_0");
      Map<String, OnnxTensor> inputs = new LinkedHashMap<>();
      inputs.put("input_ids", model.tokens(5));
      inputs.put("position", model.position(127));
      inputs.put("past_key_0", model.floats(new float[8 * 127 * 64], 1, 8, 127, 64));
      inputs.put("past_value_0", model.floats(new float[8 * 127 * 64], 1, 8, 127, 64));
      Map<String, OnnxRun.Output> outputs = model.run(inputs);
      assertThat(outputs.keySet()).containsExactly("logits", "present_key_0", "present_value_0");
      assertThat(outputs.get("logits").shape()).containsExactly(1, 1, 32_000);
      assertThat(outputs.get("present_key_0").shape()).containsExactly(1, 8, 128, 64);
    }
  }

  @Test
  void classifiesAnImage() throws IOException, OrtException {
    Path file = folder.resolve("model.onnx");
    Zoo.write("vit-base", ZooOptions.defaults().withLayers(1), file);
    float[] pixels = new float[3 * 224 * 224];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = i * 37 % 255 / 127.5f - 1;
    }
    try (OnnxRun model = new OnnxRun(file)) {
      OnnxRun.Output logits =
          model.run(Map.of("pixel_values", model.floats(pixels, 1, 3, 224, 224))).get("logits");
      assertThat(logits.shape()).containsExactly(1, 1000);
      assertUseful(logits.values());
    }
  }

  @Test
  void encodesFeatures() throws IOException, OrtException {
    ZooOptions options = ZooOptions.defaults().withLayers(1).withSequence(4);
    float[] fixed = encoded(options);
    assertUseful(fixed);
    assertClose(encoded(options.withDynamic(true)), fixed);
  }

  private float[] encoded(ZooOptions options) throws IOException, OrtException {
    Path file = folder.resolve("model.onnx");
    Zoo.write("encoder-base", options, file);
    float[] features = new float[4 * 768];
    for (int i = 0; i < features.length; i++) {
      features[i] = i * 37 % 255 / 127.5f - 1;
    }
    try (OnnxRun model = new OnnxRun(file)) {
      return model
          .run(Map.of("features", model.floats(features, 1, 4, 768)))
          .get("last_hidden_state")
          .values();
    }
  }

  @Test
  void externalWeightsAgree() throws IOException, OrtException {
    ZooOptions options = ZooOptions.defaults().withLayers(1);
    float[] inline = run("tinyllama-42m-gated", options.withSequence(8), "logits");
    float[] external =
        run("tinyllama-42m-gated", options.withSequence(8).withExternal(true), "logits");
    assertThat(external).isEqualTo(inline);
  }

  private static void assertClose(float[] actual, float[] expected) {
    assertThat(actual).hasSameSizeAs(expected);
    float greatest = 0;
    for (int i = 0; i < actual.length; i++) {
      greatest = Math.max(greatest, Math.abs(actual[i] - expected[i]));
    }
    assertThat(greatest).isLessThan(TOLERANCE);
  }

  /** Checks that values are finite, with a spread that a wrong result would change. */
  private static void assertUseful(float[] values) {
    double mean = IntStream.range(0, values.length).mapToDouble(i -> values[i]).average().orElse(0);
    double variance =
        IntStream.range(0, values.length)
            .mapToDouble(i -> (values[i] - mean) * (values[i] - mean))
            .average()
            .orElse(0);
    assertThat(Math.sqrt(variance)).isBetween(0.2, 5.0);
  }
}
