package io.partita.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Options for reading a model. */
final class ModelOptions {
  @Option(
      names = "--dim",
      paramLabel = "NAME=N",
      description =
          "Bind a dynamic dimension of the model, such as seq=128. May be given several times.")
  Map<String, Long> dims = new LinkedHashMap<>();

  @Option(
      names = "--bind",
      paramLabel = "INPUT=V,...",
      description =
          "Bind a graph input that determines a shape to its value, such as shape=2,3,4. May be given"
              + " several times.")
  Map<String, String> values = new LinkedHashMap<>();
}
