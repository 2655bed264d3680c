package io.partita.cli;

import io.partita.driver.quantize.QuantizationStep;
import io.partita.driver.quantize.QuantizePass;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option that quantizes the model that a command reads. */
final class QuantizeOptions {
  @Option(
      names = "--quantize",
      paramLabel = "OPTIONS",
      description =
          "Quantize the ONNX model first, with the options of 'partita quantize':"
              + " calibration=FILE.npz,weights=int4,group=64.")
  String text;

  Optional<QuantizationStep> step() {
    return Optional.ofNullable(text).map(QuantizePass::parse);
  }
}
