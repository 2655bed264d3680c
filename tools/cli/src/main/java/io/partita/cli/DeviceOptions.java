package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.plan.DeviceChoice;
import io.partita.driver.plan.PlanRequest;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.PlanCode;
import io.partita.passes.planning.search.StrategyChoice;
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

  boolean areGiven() {
    return devices != null || strategy != null;
  }

  /** Without a target to plan for; none for one device. */
  Optional<Strategy> chosen() {
    return Distribution.strategy(count(), strategy);
  }

  private Integer count() {
    if (devices == null) {
      return null;
    }
    return switch (DeviceChoice.parse(devices)) {
      case DeviceChoice.Exactly(int count) -> count;
      case DeviceChoice.Auto() ->
          throw new PartitaException(
              PlanCode.DEVICES,
              "option --devices",
              "a number, or auto when compiling with --plan TARGET",
              "auto",
              "compile with --plan siracusa:chips=8, or another target");
      case DeviceChoice.All() -> null;
    };
  }

  /** What 'partita plan' would be asked. */
  PlanRequest request(Compilation.Request model, TargetDescription target) {
    return new PlanRequest(
        model,
        model.capacity(),
        target,
        devices == null ? new DeviceChoice.All() : DeviceChoice.parse(devices),
        StrategyChoice.parse(strategy == null ? "auto" : strategy),
        Goal.LATENCY,
        PlanOptions.DEFAULT);
  }
}
