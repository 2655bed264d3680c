package io.partita.cli;

import io.partita.cli.ZooCommand.ModeName;
import picocli.CommandLine.Option;

/** Options for a zoo model that is named in place of a file. */
final class ZooModelOptions {
  @Option(
      names = "--mode",
      paramLabel = "MODE",
      description = "Zoo models: prompt (default) or decode, with a KV cache.")
  ModeName mode = ModeName.prompt;

  @Option(
      names = "--layers",
      paramLabel = "N",
      description = "Zoo models: override the number of layers.")
  Integer layers;
}
