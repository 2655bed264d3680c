package io.partita.cli;

import io.partita.driver.Distribution;
import io.partita.passes.shard.Strategy;
import java.util.Optional;
import picocli.CommandLine.Option;

/** What says over which devices a model is distributed. */
final class DeviceOptions {
  @Option(
      names = "--devices",
      paramLabel = "N",
      description = "Distribute the model over N devices; by default one.")
  Integer devices;

  @Option(
      names = "--strategy",
      paramLabel = "STRATEGY",
      description =
          "How to distribute it: tensor (the default), sequence, pipeline, or several with their"
              + " numbers of devices as in pipeline=2,tensor=4.")
  String strategy;

  Optional<Strategy> chosen() {
    return Distribution.strategy(devices, strategy);
  }
}
