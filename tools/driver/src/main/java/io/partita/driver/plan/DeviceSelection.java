package io.partita.driver.plan;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.PlanCode;
import io.partita.passes.planning.search.StrategyChoice;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The user's choice of devices and strategy.
 *
 * @param devices their number, or {@code auto} with a target to plan for
 * @param strategy such as {@code pipeline=2,tensor=4}
 */
public record DeviceSelection(Optional<String> devices, Optional<String> strategy) {
  public boolean isEmpty() {
    return devices.isEmpty() && strategy.isEmpty();
  }

  /** Returns this choice, or all of the usual devices if the user makes none. */
  public DeviceSelection orElse(OptionalInt usual) {
    return isEmpty() && usual.isPresent()
        ? new DeviceSelection(Optional.of(Integer.toString(usual.getAsInt())), strategy)
        : this;
  }

  /**
   * Returns the strategy without a target to plan for; empty for one device.
   *
   * @throws PartitaException if number and strategy contradict each other
   */
  public Optional<Strategy> chosen() {
    return Distribution.strategy(count(), strategy.orElse(null));
  }

  private Integer count() {
    if (devices.isEmpty()) {
      return null;
    }
    return switch (DeviceChoice.parse(devices.get())) {
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

  /** The request to {@link Planning}, with the least latency as goal. */
  public PlanRequest request(Compilation.Request model, PlannedTarget target, SyncRewrites syncs) {
    return new PlanRequest(
        model,
        model.capacity(),
        target.description(),
        devices.map(DeviceChoice::parse).orElseGet(DeviceChoice.All::new),
        StrategyChoice.parse(strategy.orElse("auto")),
        Goal.LATENCY,
        PlanOptions.DEFAULT.weights(target.weights()),
        syncs,
        Optional.empty());
  }
}
