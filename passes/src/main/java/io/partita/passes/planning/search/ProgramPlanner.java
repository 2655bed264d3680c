package io.partita.passes.planning.search;

import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Topology;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
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

/** Splits a model, makes the program of each device, and predicts a run. */
public final class ProgramPlanner implements Planner {
  private final Module module;
  private final TargetDescription target;
  private final PlanOptions options;
  private final Goal goal;
  private final TokenGathers gathers;
  private final SyncRewrites syncs;
  private final Map<Integer, ChooseAlgorithms> algorithms = new HashMap<>();

  /**
   * @param module a raised module of static shapes, not yet distributed
   * @param goal the goal by which the algorithms of syncs are chosen
   * @param syncs the rewrites of the sums of blocks
   */
  public ProgramPlanner(
      Module module, TargetDescription target, PlanOptions options, Goal goal, SyncRewrites syncs) {
    this(module, target, options, goal, syncs.rules().gathers(), syncs);
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
    int capacity = capacity(devices);
    Module sharded = new ShardPass(strategy, gathers).run(module);
    Module mesh =
        algorithms
            .computeIfAbsent(
                strategy.devices(),
                count -> new ChooseAlgorithms(new SyncAlgorithms(devices, capacity, options, goal)))
            .run(strategy.devices() == 1 ? sharded : syncs.run(sharded));
    Program program = Localization.of(mesh, capacity);
    return new CandidatePlan(strategy, mesh, program, Plans.report(program, devices, options));
  }

  @Override
  public CandidatePlan overlapped(CandidatePlan plan) {
    Planned found =
        OverlapChoice.choose(
            new Planned(plan.module(), plan.program(), plan.report()),
            TargetChange.first(target, plan.devices()),
            options,
            report -> goal.of(report.seconds(), report.totalJoules()));
    return new CandidatePlan(plan.strategy(), found.module(), found.program(), found.report());
  }

  /** Returns the number of messages that any channel between two devices holds. */
  private static int capacity(TargetDescription devices) {
    return Topology.of(devices).channels().stream()
        .mapToInt(channel -> channel.link().buffer())
        .min()
        .orElse(0);
  }
}
