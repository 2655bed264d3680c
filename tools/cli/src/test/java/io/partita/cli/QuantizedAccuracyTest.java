package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what quantization costs trained models on validation data. */
@Timeout(900)
class QuantizedAccuracyTest {
  /** Larger models, which aren't in the repository. */
  private static final Path SHARED = Invocation.ROOT.resolve("../shared/models");

  /** The bounds of the relative perplexity, by the type of the weights. */
  private static final double LARGEST_BYTES = 1.01;

  private static final double LARGEST_NIBBLES = 1.04;

  /** The largest loss of top-1. */
  private static final double LARGEST_LOSS = 0.003;

  private static final int SAMPLES = 16;

  @TempDir Path folder;

  /** The metric of a float model, and of the quantized one. */
  private record Measured(double exact, double value) {}

  private Measured measured(
      Path network, Path data, int samples, String options, String... scaling) {
    Path quantized = folder.resolve("q.onnx");
    List<Object> command =
        new ArrayList<>(List.of("quantize", network, "--calibration", data, "-o", quantized));
    command.addAll(List.of(options.split(" ")));
    command.addAll(List.of(scaling));
    Invocation run = Invocation.of(command.toArray());
    assertThat(run.exitCode()).as(run.err()).isZero();
    return new Measured(
        value(network, data, samples, scaling), value(quantized, data, samples, scaling));
  }

  private static double value(Path model, Path data, int samples, String... scaling) {
    List<Object> command =
        new ArrayList<>(List.of("evaluate", model, "--data", data, "--samples", samples, "--json"));
    command.addAll(List.of(scaling));
    Invocation run = Invocation.of(command.toArray());
    assertThat(run.exitCode()).as(run.err()).isZero();
    return ((Number) run.json().get("value")).doubleValue();
  }

  private static Path shared(String model) {
    Path folder = SHARED.resolve(model);
    assumeThat(folder).as("SKIPPED: no model at " + folder).exists();
    return folder;
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "--samples=16",
    "--samples=8 --attention=int8 --functions=int8",
    "--samples=8 --weights=int4 --group=16",
    "--samples=8 --weights=int4 --group=16 --activations=float"
  })
  void bundledLanguageModel(String options) {
    Path network = Invocation.SHAKESPEARE.resolve("prefill/network.onnx");
    Path data = Invocation.SHAKESPEARE.resolve("eval.npz");
    assertCloseTo(measured(network, data, SAMPLES, options), options);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({
    "--samples=8",
    "--samples=8 --attention=int8 --functions=int8",
    "--samples=8 --weights=int4 --group=16"
  })
  void languageModel(String options) {
    Path model = shared("shakespeare-llama");
    Path network = model.resolve("prefill/network.onnx");
    assertCloseTo(measured(network, model.resolve("eval.npz"), SAMPLES / 4, options), options);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"--samples=32", "--samples=32 --attention=int8 --functions=int8"})
  void classifier(String options) {
    Path model = shared("mnist-vit");
    Measured measured =
        measured(
            model.resolve("network.onnx"),
            model.resolve("eval.npz"),
            1000,
            options,
            "--mean=0.5",
            "--std=0.5");
    assertThat(measured.exact()).isGreaterThan(0.9);
    assertThat(measured.value())
        .as("%s of %s", options, measured)
        .isBetween(measured.exact() - LARGEST_LOSS, 1.0);
  }

  private static void assertCloseTo(Measured measured, String options) {
    double largest = options.contains("int4") ? LARGEST_NIBBLES : LARGEST_BYTES;
    assertThat(measured.value() / measured.exact())
        .as("%s of %s", options, measured)
        .isBetween(2 - largest, largest)
        .isNotEqualTo(1);
  }
}
