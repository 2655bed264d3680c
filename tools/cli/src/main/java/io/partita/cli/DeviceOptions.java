package io.partita.cli;

import io.partita.driver.plan.DeviceSelection;
import io.partita.passes.mesh.shard.Strategy;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options for the devices over which a model is distributed. */
final class DeviceOptions {
  @Option(
      names = "--devices",
      paramLabel = "N",
      description =
          "Distribute the model over N devices; by default one. When compiling with --plan, auto"
              + " chooses the number, and the default is all of the target's.")
  String devices;

  @Option(
      names = "--strategy",
      paramLabel = "STRATEGY",
      description =
          "How to split it: tensor (the default), sequence, pipeline, or several with their"
              + " numbers of devices and options, as in pipeline=2,tensor=4,norm=tokens; see"
              + " 'partita explain P4201'.")
  String strategy;

  /**
   * The strategy for several devices.
   *
   * @throws ParameterException if none is given
   */
  Strategy required(CommandSpec spec) {
    return selection()
        .chosen()
        .orElseThrow(
            () ->
                new ParameterException(
                    spec.commandLine(), "missing: --devices N, the number of devices, 2 or more"));
  }

  DeviceSelection selection() {
    return new DeviceSelection(Optional.ofNullable(devices), Optional.ofNullable(strategy));
  }
}
