package io.partita.cli;

import io.partita.cli.ZooCommand.ModeName;
import picocli.CommandLine.Option;

/** What of a model of the zoo is meant where it's named in place of a file. */
final class ZooModelOptions {
  @Option(
      names = "--mode",
      paramLabel = "MODE",
      description = "Models of the zoo: prompt (default) or decode, with a KV cache.")
  ModeName mode = ModeName.prompt;

  @Option(
      names = "--layers",
      paramLabel = "N",
      description = "Models of the zoo: so many layers, not the model's.")
  Integer layers;
}
