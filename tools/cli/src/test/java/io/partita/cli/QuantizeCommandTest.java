package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class QuantizeCommandTest {
  private static final Path PREFILL =
      Invocation.SHAKESPEARE.resolve("prefill").resolve("network.onnx");
  private static final int SAMPLES = 4;
  private static final int LENGTH = 17;

  @TempDir Path folder;
  private Path data;
  private Path quantized;

  @BeforeEach
  void text() {
    Tensor all = Npz.read(Invocation.SHAKESPEARE.resolve("eval.npz")).get("calibration");
    long[] ids = Arrays.copyOf(all.longs(), SAMPLES * LENGTH);
    data = archive(Tensor.longs(Shape.of(SAMPLES, LENGTH), ids));
    quantized = folder.resolve("q.onnx");
  }

  private Path archive(Tensor samples) {
    Path file = folder.resolve("data.npz");
    long[] labels = new long[samples.size()];
    Tensor classes =
        Tensor.longs(
            Shape.of(samples.shape().extent(0)),
            Arrays.copyOf(labels, (int) samples.shape().extent(0)));
    OutputFile.write(
        file,
        out ->
            Npz.write(
                Map.of(
                    "calibration", samples,
                    "validation", samples,
                    "calibration_labels", classes),
                out));
    return file;
  }

  private Invocation quantize(Path model, Object... more) {
    Object[] first = {"quantize", model, "--calibration", data, "-o", quantized};
    Object[] arguments = Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, arguments, first.length, more.length);
    return Invocation.of(arguments);
  }

  private double perplexity(Path model) {
    Invocation run = Invocation.of("evaluate", model, "--data", data, "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    return ((Number) run.json().get("value")).doubleValue();
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> layers(Invocation run) {
    assertThat(run.exitCode()).as(run.err()).isZero();
    return (List<Map<String, Object>>) run.json().get("layers");
  }

  private static double mean(List<Map<String, Object>> layers, String field) {
    return layers.stream()
        .mapToDouble(layer -> ((Number) layer.get(field)).doubleValue())
        .average()
        .orElseThrow();
  }

  @Test
  @Tag("thorough")
  void fewerBitsCostAccuracyAndSpace() throws Exception {
    List<Map<String, Object>> bytes = layers(quantize(PREFILL, "--json"));
    assertThat(bytes).hasSize(29);
    double exact = perplexity(PREFILL);
    assertThat(perplexity(quantized) / exact).isBetween(0.99, 1.01);
    long size = Files.size(quantized);
    assertThat(size).isLessThan(Files.size(PREFILL) / 2);
    List<Map<String, Object>> nibbles =
        layers(quantize(PREFILL, "--json", "--weights=int4", "--group=16"));
    assertThat(Files.size(quantized)).isLessThan(size);
    assertThat(perplexity(quantized) / exact).isBetween(0.96, 1.04);
    assertThat(mean(nibbles, "ownError")).isGreaterThan(2 * mean(bytes, "ownError"));
  }

  @Test
  @Tag("thorough")
  void sensitiveInputsStayFloat() {
    List<Map<String, Object>> layers = layers(quantize(PREFILL, "--json", "--max-error=0.02"));
    assertThat(layers)
        .filteredOn(layer -> layer.get("inputBits").equals(32))
        .isNotEmpty()
        .allSatisfy(layer -> assertThat(layer.get("product").toString()).contains("down_proj"));
    assertThat(layers)
        .allSatisfy(
            layer -> assertThat(((Number) layer.get("ownError")).doubleValue()).isLessThan(0.02));
  }

  @Test
  @Tag("thorough")
  void smoothingDividesTheNormsAndKeepsTheModel() {
    Invocation run =
        quantize(PREFILL, "--json", "--smooth=0.5", "--range=percentile", "--percentile=99.9");
    assertThat(layers(run)).isNotEmpty();
    // Two norms in each of four blocks, and the last one.
    assertThat(run.json().get("smoothed")).isEqualTo(9);
    assertThat(perplexity(quantized) / perplexity(PREFILL)).isBetween(0.99, 1.01);
  }

  @Test
  @Tag("thorough")
  void aDecoderKeepsItsCache() {
    Invocation run = quantize(Invocation.DECODER, "--samples=1", "--range=minmax", "--json");
    assertThat(layers(run)).hasSize(29);
    assertThat(perplexity(quantized) / perplexity(Invocation.DECODER)).isBetween(0.98, 1.02);
    Path twice = folder.resolve("twice.onnx");
    Invocation again = Invocation.of("quantize", quantized, "--calibration", data, "-o", twice);
    assertThat(again.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(again.err())
        .contains(
            "error P6301: the model is already quantized",
            "expected:  a model of floats",
            "fix:       quantize the float model that it was made from");
  }

  @Test
  @Tag("thorough")
  void attentionsAndCachesBecomeIntegers() {
    Invocation run = quantize(Invocation.DECODER, "--samples=2", "--attention=int8", "--json");
    assertThat(layers(run)).hasSize(29);
    assertThat((List<?>) run.json().get("attentions")).hasSize(4);
    assertThat(perplexity(quantized) / perplexity(Invocation.DECODER)).isBetween(0.97, 1.03);
    Invocation inspected = Invocation.of("inspect", quantized);
    assertThat(inspected.out())
        .contains("past_key_3 (4): i8[1,4,past,8]", "KV cache   256 B a token", "attention 4");
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> attentions(Invocation run) {
    assertThat(run.exitCode()).as(run.err()).isZero();
    return (List<Map<String, Object>>) run.json().get("attentions");
  }

  @Test
  @Tag("thorough")
  void attentionsWithLargeErrorsStayFloat() {
    List<Map<String, Object>> all =
        attentions(quantize(PREFILL, "--samples=2", "--attention=int8", "--json"));
    assertThat(all).extracting("inputBits").containsOnly(8);
    List<Double> errors =
        all.stream().map(each -> ((Number) each.get("ownError")).doubleValue()).toList();
    assertThat(errors).allSatisfy(error -> assertThat(error).isBetween(0.001, 0.2));
    double limit = errors.stream().sorted().skip(1).findFirst().orElseThrow();
    List<Map<String, Object>> some =
        attentions(
            quantize(PREFILL, "--samples=2", "--attention=int8", "--max-error=" + limit, "--json"));
    assertThat(some)
        .extracting("inputBits")
        .containsExactlyElementsOf(
            errors.stream().map(error -> (Object) (error <= limit ? 8 : 32)).toList());
    assertThat(some).extracting("ownError").containsExactlyElementsOf(errors);
  }

  /**
   * Also tests that a decoder with a cache of integers and one of floats generates the same text.
   */
  @Test
  @Tag("thorough")
  void anAttentionAndItsCacheStayFloat() {
    String first = "/layers.0/self_attn/MatMul_1";
    Invocation run =
        quantize(
            Invocation.DECODER, "--samples=2", "--attention=int8", "--float=" + first, "--json");
    assertThat(attentions(run)).hasSize(3).extracting("product").doesNotContain(first);
    assertThat(Invocation.of("inspect", quantized).out())
        .contains("past_key_0: f32[1,4,past,8]", "past_key_3 (3): i8[1,4,past,8]");
    assertThat(perplexity(quantized) / perplexity(Invocation.DECODER)).isBetween(0.97, 1.03);
    String text = generated("java");
    assertThat(text).startsWith("The king").hasSizeGreaterThan(30);
    assertThat(generated("siracusa")).isEqualTo(text);
  }

  private String generated(String target) {
    Path program = folder.resolve(target);
    Invocation compiled =
        Invocation.of("compile", quantized, "--target", target, "--kv-capacity", 64, "-o", program);
    assertThat(compiled.exitCode()).as(compiled.err()).isZero();
    Invocation run =
        Invocation.of(
            "generate",
            program,
            "--prompt",
            "The king",
            "--vocab",
            Invocation.SHAKESPEARE.resolve("vocab.json"),
            "--tokens",
            40);
    assertThat(run.exitCode()).as(run.err()).isZero();
    return run.out();
  }

  @Test
  @Tag("thorough")
  void functionsStayFloat() {
    Invocation run =
        quantize(PREFILL, "--samples=1", "--functions=int8", "--float=/layers.2/Mul", "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat((List<?>) run.json().get("functions"))
        .hasSize(3)
        .extracting("function")
        .doesNotContain("/layers.2/Mul");
  }

  @Tag("thorough")
  @Test
  void attentionsOfThePrompt() {
    Invocation run = quantize(PREFILL, "--samples=1", "--range=minmax", "--attention=int8");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).containsPattern("/layers.3/self_attn/\\S+ +attention +int8 ");
    assertThat(perplexity(quantized) / perplexity(PREFILL)).isBetween(0.97, 1.03);
  }

  @Tag("thorough")
  @Test
  void activationFunctionsBecomeTables() {
    Invocation run = quantize(PREFILL, "--samples=2", "--functions=int8");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).containsPattern("/layers.3/\\S+ +function +int8 +[0-9.]+% +[0-9.]+% ");
    assertThat(perplexity(quantized) / perplexity(PREFILL)).isBetween(0.98, 1.02);
    assertThat(Invocation.of("inspect", quantized).out()).contains("gated_ffn table of 176");
    Invocation exact =
        quantize(PREFILL, "--samples=2", "--functions=int8", "--max-error=0.001", "--json");
    assertThat((List<?>) exact.json().get("functions"))
        .hasSize(4)
        .extracting("inputBits")
        .containsOnly(32);
  }

  /** The residual stream has two sums in each of four blocks, the last of which costs the most. */
  @Tag("thorough")
  @Test
  void residualSumsHaveErrorsOfTheirOwn() {
    Invocation run = quantize(PREFILL, "--samples=2", "--residual=int8");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).containsPattern("/layers.3/\\S+ +sum +int8 +[0-9.]+% +[0-9.]+% ");
    assertThat(perplexity(quantized) / perplexity(PREFILL)).isBetween(0.95, 1.05);
    Invocation exact =
        quantize(PREFILL, "--samples=2", "--residual=int8", "--max-error=0.0001", "--json");
    assertThat((List<?>) exact.json().get("residuals"))
        .hasSize(8)
        .extracting("inputBits")
        .containsOnly(32);
  }

  @Test
  void functionsNeedAQuantizedProduct() {
    List<String> options = new ArrayList<>(List.of("--functions=int8"));
    for (int layer = 0; layer < 4; layer++) {
      options.add("--float=/layers." + layer + "/gate_proj/MatMul");
    }
    assertThat(quantize(PREFILL, options.toArray()).err())
        .contains(
            "error P6308: the model has no activation function to quantize",
            "expected:  an activation function other than ReLU between two quantized products",
            "fix:       leave out --functions int8");
  }

  @Test
  void someResidualSumIsToBeQuantized() {
    List<String> options = new ArrayList<>(List.of("--residual=int8"));
    for (int layer = 0; layer < 4; layer++) {
      options.add("--float=/layers." + layer + "/Add");
      options.add("--float=/layers." + layer + "/Add_1");
    }
    assertThat(quantize(PREFILL, options.toArray()).err())
        .contains(
            "error P6311: the model has no residual sum to quantize",
            "found:     none that --float leaves",
            "fix:       leave out --residual int8");
  }

  @Test
  void groupsMustDivideTheRows() {
    Invocation run = quantize(PREFILL, "--weights=int4");
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err())
        .contains(
            "error P6304: the groups don't divide a weight",
            "where:     product \"/layers.0/down_proj/MatMul\"",
            "expected:  rows in groups of 32",
            "found:     176 rows",
            "choose --group from the divisors of 16, the greatest number that divides");
    assertThat(quantized).doesNotExist();
  }

  @Test
  void namesTheNearestProduct() {
    assertThat(quantize(PREFILL, "--float=/lm_head/MatMull").err())
        .contains(
            "error P6306: the model has no such product, attention, function or residual sum",
            "did you mean '--float /lm_head/MatMul'?");
  }

  @Test
  void theDataMustFitTheModel() {
    assertThat(quantize(PREFILL, "--array=train").err()).contains("error P6201", "'train'");
    data = archive(Tensor.longs(Shape.of(1, 3), 1, 2, 65));
    assertThat(quantize(PREFILL).err())
        .contains("error P6202", "ids from 0 to 64, the model's vocabulary", "found:     65");
  }

  @Test
  void optionsHaveRanges() {
    assertThat(quantize(PREFILL, "--weights=int3").err())
        .startsWith("--weights takes int8 or int4, not int3");
    assertThat(quantize(PREFILL, "--attention=int4").err())
        .startsWith("--attention takes int8 or float, not int4");
    assertThat(quantize(PREFILL, "--functions=table").err())
        .startsWith("--functions takes int8 or float, not table");
    assertThat(quantize(PREFILL, "--smooth=2").err())
        .startsWith("--smooth takes a number from 0 to 1, not 2");
    assertThat(quantize(PREFILL, "--range=all").err())
        .startsWith("--range takes minmax, percentile or mse, not all");
  }

  /** A quantized model that replaced its original couldn't be quantized again. */
  @Test
  void theModelIsNotReplaced() throws IOException {
    Path model = folder.resolve("model.onnx");
    Files.copy(PREFILL, model);
    Path same = Files.createSymbolicLink(folder.resolve("link.onnx"), model);
    for (Path output : List.of(model, same)) {
      Invocation run = Invocation.of("quantize", model, "--calibration", data, "-o", output);
      assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(run.err())
          .contains("-o takes another file than the model and its calibration data, not " + output);
      assertThat(model).hasSameBinaryContentAs(PREFILL);
    }
  }
}
