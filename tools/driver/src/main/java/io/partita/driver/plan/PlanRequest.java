package io.partita.driver.plan;

import io.partita.driver.Compilation;
import io.partita.ir.schedule.Packing;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.search.Goal;
import io.partita.passes.planning.search.StrategyChoice;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A request for a plan.
 *
 * @param capacity positions of the KV cache, if dynamic
 * @param options the kind of run that the figures describe
 * @param syncs how sums of blocks are communicated
 * @param speculation if present, half of the devices run ahead on an approximate attention
 */
public record PlanRequest(
    Compilation.Request model,
    OptionalLong capacity,
    TargetDescription target,
    DeviceChoice devices,
    StrategyChoice strategy,
    Goal goal,
    PlanOptions options,
    SyncRewrites syncs,
    Optional<Speculation> speculation) {
  /** How the constant matrices of products are stored. */
  public Packing weights() {
    return options.assumptions().weights();
  }

  PlanRequest with(TargetDescription changed) {
    return new PlanRequest(
        model, capacity, changed, devices, strategy, goal, options, syncs, speculation);
  }

  PlanRequest with(DeviceChoice changed) {
    return new PlanRequest(
        model, capacity, target, changed, strategy, goal, options, syncs, speculation);
  }

  PlanRequest with(StrategyChoice changed) {
    return new PlanRequest(
        model, capacity, target, devices, changed, goal, options, syncs, speculation);
  }

  PlanRequest withCapacity(long positions) {
    return new PlanRequest(
        model,
        OptionalLong.of(positions),
        target,
        devices,
        strategy,
        goal,
        options,
        syncs,
        speculation);
  }

  PlanRequest withDim(String name, long extent) {
    Map<String, Long> dims = new LinkedHashMap<>(model.dims());
    dims.put(name, extent);
    return new PlanRequest(
        model.with(dims), capacity, target, devices, strategy, goal, options, syncs, speculation);
  }
}
