package io.partita.passes.planning.search;

import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.speculate.SpeculateGroups;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.TokenGathers;
import io.partita.passes.planning.cost.OverlapChoice;
import io.partita.passes.planning.cost.OverlapChoice.Planned;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.Plans;
import io.partita.passes.program.localize.Localization;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Splits a model, makes the program of each device, and predicts a run. */
public final class ProgramPlanner implements Planner {
  private final Module module;
  private final TargetDescription target;
  private final PlanOptions options;
  private final Goal goal;
  private final TokenGathers gathers;
  private final SyncRewrites syncs;
  private final Optional<Speculation> speculation;
  private final Map<Integer, ChooseAlgorithms> algorithms = new HashMap<>();

  /**
   * @param module a raised module of static shapes, not yet distributed
   * @param goal the goal by which the algorithms of syncs are chosen
   * @param syncs the rewrites of the sums of blocks
   */
  public ProgramPlanner(
      Module module, TargetDescription target, PlanOptions options, Goal goal, SyncRewrites syncs) {
    this(module, target, options, goal, syncs, Optional.empty());
  }

  /**
   * @param speculation if present, strategies are tensor splits, of which one half of the devices
   *     speculates for the other
   */
  public ProgramPlanner(
      Module module,
      TargetDescription target,
      PlanOptions options,
      Goal goal,
      SyncRewrites syncs,
      Optional<Speculation> speculation) {
    this(module, target, options, goal, syncs.rules().gathers(), syncs, speculation);
  }

  /**
   * @param gathers what devices gather where tokens are split
   */
  public ProgramPlanner(
      Module module,
      TargetDescription target,
      PlanOptions options,
      Goal goal,
      TokenGathers gathers,
      SyncRewrites syncs) {
    this(module, target, options, goal, gathers, syncs, Optional.empty());
  }

  private ProgramPlanner(
      Module module,
      TargetDescription target,
      PlanOptions options,
      Goal goal,
      TokenGathers gathers,
      SyncRewrites syncs,
      Optional<Speculation> speculation) {
    this.speculation = speculation;
    this.gathers = gathers;
    this.syncs = syncs;
    this.module = module;
    this.target = target;
    this.options = options;
    this.goal = goal;
  }

  @Override
  public CandidatePlan plan(Strategy strategy) {
    TargetDescription devices = TargetChange.first(target, strategy.devices());
    int capacity = Topology.of(devices).buffer();
    Module mesh = speculation.isPresent() ? speculating(strategy) : split(strategy, devices);
    Program program = Localization.of(mesh, capacity);
    return new CandidatePlan(strategy, mesh, program, Plans.report(program, devices, options));
  }

  private Module split(Strategy strategy, TargetDescription devices) {
    Module sharded = new ShardPass(strategy, gathers).run(module);
    return algorithms
        .computeIfAbsent(
            strategy.devices(),
            count ->
                new ChooseAlgorithms(
                    new SyncAlgorithms(devices, Topology.of(devices).buffer(), options, goal)))
        .run(strategy.devices() == 1 ? sharded : syncs.run(sharded));
  }

  /** Syncs of values that vary can't be priced alone, so they have the usual algorithms. */
  private Module speculating(Strategy strategy) {
    OptionalLong devices = OptionalLong.of(strategy.devices());
    return new SpeculateGroups(speculation.orElseThrow(), devices).run(module);
  }

  @Override
  public CandidatePlan overlapped(CandidatePlan plan) {
    if (speculation.isPresent()) {
      return plan;
    }
    Planned found =
        OverlapChoice.choose(
            new Planned(plan.module(), plan.program(), plan.report()),
            TargetChange.first(target, plan.devices()),
            options,
            report -> goal.of(report.seconds(), report.totalJoules()));
    return new CandidatePlan(plan.strategy(), found.module(), found.program(), found.report());
  }
}
