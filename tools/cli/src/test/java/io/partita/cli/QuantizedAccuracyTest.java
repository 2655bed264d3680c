package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what quantization costs the bundled language model on validation data. */
@Tag("thorough")
@Timeout(900)
class QuantizedAccuracyTest {
  /** The bounds of the relative perplexity, by the type of the weights. */
  private static final double LARGEST_BYTES = 1.01;

  private static final double LARGEST_NIBBLES = 1.04;

  private static final int SAMPLES = 16;

  @TempDir Path folder;

  /** The metric of a float model, and of the quantized one. */
  private record Measured(double exact, double value) {}

  private Measured measured(String options) {
    Path network = Invocation.SHAKESPEARE.resolve("prefill/network.onnx");
    Path data = Invocation.SHAKESPEARE.resolve("eval.npz");
    Path quantized = folder.resolve("q.onnx");
    List<Object> command =
        new ArrayList<>(List.of("quantize", network, "--calibration", data, "-o", quantized));
    command.addAll(List.of(options.split(" ")));
    Invocation run = Invocation.of(command.toArray());
    assertThat(run.exitCode()).as(run.err()).isZero();
    return new Measured(value(network, data), value(quantized, data));
  }

  private static double value(Path model, Path data) {
    Invocation run =
        Invocation.of("evaluate", model, "--data", data, "--samples", SAMPLES, "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    return ((Number) run.json().get("value")).doubleValue();
  }

  @ParameterizedTest
  @CsvSource({
    "--samples=16",
    "--samples=8 --attention=int8 --functions=int8",
    "--samples=8 --weights=int4 --group=16",
    "--samples=8 --weights=int4 --group=16 --activations=float"
  })
  void bundledLanguageModel(String options) {
    assertCloseTo(measured(options), options);
  }

  private static void assertCloseTo(Measured measured, String options) {
    double largest = options.contains("int4") ? LARGEST_NIBBLES : LARGEST_BYTES;
    assertThat(measured.value() / measured.exact())
        .as("%s of %s", options, measured)
        .isBetween(2 - largest, largest)
        .isNotEqualTo(1);
  }
}
