package io.partita.cli;

import io.partita.driver.plan.DeviceSelection;
import java.util.Optional;
import picocli.CommandLine.Option;

/** What says over which devices a model is distributed. */
final class DeviceOptions {
  @Option(
      names = "--devices",
      paramLabel = "N",
      description =
          "Distribute the model over N devices; by default one. When compiling with --plan: auto for"
              + " as many as are best, and by default all of the target's.")
  String devices;

  @Option(
      names = "--strategy",
      paramLabel = "STRATEGY",
      description =
          "How to distribute it: tensor (the default), sequence, pipeline, or several with their"
              + " numbers of devices as in pipeline=2,tensor=4.")
  String strategy;

  DeviceSelection selection() {
    return new DeviceSelection(Optional.ofNullable(devices), Optional.ofNullable(strategy));
  }
}
