package io.partita.passes.planning.cost;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.program.ForeseenFlags;
import io.partita.ir.program.Program;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.planning.residency.ResidencyCode;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.values.BlockRanges;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.timing.CostCode;
import io.partita.passes.timing.KernelTimes;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Predicts the figures of programs on targets: from their schedule if chips run one ({@link
 * ScheduledPlan}), and by closed formulas otherwise.
 */
public final class Plans {
  private final TargetDescription target;
  private final PlanOptions options;
  private final TargetTimeline timeline;
  private final KernelTimes kernels;

  private Plans(TargetDescription target, PlanOptions options) {
    this.target = target;
    this.options = options;
    this.timeline = new TargetTimeline(target);
    this.kernels = new KernelTimes(options.buffers());
  }

  /**
   * Returns the report of a module of the mesh dialect.
   *
   * @throws PartitaException as {@link Localization#of} and {@link #report(Program,
   *     TargetDescription, PlanOptions)} do
   */
  public static PlanReport report(Module module, TargetDescription target, PlanOptions options) {
    int capacity = new TargetTimeline(target).buffer();
    return report(Localization.of(module, capacity), target, options);
  }

  /**
   * Returns the report of a program; its device i runs on device i of the target.
   *
   * @param program a program of static shapes
   * @throws PartitaException with {@link ResidencyCode#DEVICES}, or a {@link CostCode} if the
   *     target lacks a figure. A program that doesn't fit is not an error, but stated in the report
   */
  public static PlanReport report(Program program, TargetDescription target, PlanOptions options) {
    return report(program, target, options, Optional.empty());
  }

  /**
   * Like {@link #report(Program, TargetDescription, PlanOptions)}.
   *
   * @param recorder receives what each resource did during the run
   */
  public static PlanReport report(
      Program program,
      TargetDescription target,
      PlanOptions options,
      Consumer<RecordedTimeline> recorder) {
    return report(program, target, options, Optional.of(recorder));
  }

  /** Returns the report of a schedule that was predicted for this target. */
  public static PlanReport report(
      Schedule schedule, TargetDescription target, SchedulePrediction prediction) {
    return ScheduledPlan.report(target, schedule, prediction);
  }

  private static PlanReport report(
      Program program,
      TargetDescription target,
      PlanOptions options,
      Optional<Consumer<RecordedTimeline>> recorder) {
    int needed = program.devices().size();
    if (needed > target.deviceCount()) {
      throw new PartitaException(
          ResidencyCode.DEVICES,
          "target " + target.name(),
          "at least " + needed + " devices",
          String.valueOf(target.deviceCount()),
          "give the target more devices, or ask for fewer");
    }
    Supplier<PlanReport> estimate = () -> new Plans(target, options).report(program, recorder);
    return ScheduledPlan.applies(program, target, options)
        ? ScheduledPlan.report(program, target, options, estimate, recorder)
        : estimate.get();
  }

  private PlanReport report(Program program, Optional<Consumer<RecordedTimeline>> recorder) {
    Optional<ForeseenFlags> hits = ForeseenFlags.of(program, Verdict.HIT);
    Optional<ForeseenFlags> misses = ForeseenFlags.of(program, Verdict.MISS);
    if (hits.isEmpty() || misses.isEmpty()) {
      return report(program, Optional.empty(), recorder);
    }
    double hitSeconds =
        new Plans(target, options).report(program, hits, Optional.empty()).seconds();
    return report(program, misses, recorder).withHits(hitSeconds);
  }

  /**
   * @param flags those that decide which nodes devices skip; without them, all are computed
   */
  private PlanReport report(
      Program program,
      Optional<ForeseenFlags> flags,
      Optional<Consumer<RecordedTimeline>> recorder) {
    List<RoleCosts> costs = costs(program);
    List<DeviceRun> devices = new ArrayList<>();
    List<BlockRanges> ranges = new ArrayList<>();
    for (int device = 0; device < program.devices().size(); device++) {
      RoleCosts role = costs.get(device);
      Graph graph = program.devices().get(device).graph();
      Set<Node> skipped = skipped(graph, device, flags);
      ranges.add(role.residency().blocks());
      devices.add(new DeviceRun(timeline, kernels, options, device, role, graph.nodes(), skipped));
    }
    List<Shortage> shortages =
        costs.stream().distinct().flatMap(role -> role.residency().shortages().stream()).toList();
    ProgramTimeline run =
        new ProgramTimeline(timeline, options, devices, new SyncBlocks(nodes(program), ranges));
    run.run();
    return run.report(target.name(), program.mesh(), shortages, recorder);
  }

  /** Returns the nodes of guarded regions that a device doesn't compute. */
  private static Set<Node> skipped(Graph graph, int device, Optional<ForeseenFlags> flags) {
    Set<Node> skipped = Collections.newSetFromMap(new IdentityHashMap<>());
    if (flags.isPresent()) {
      GatedRegions regions = GatedRegions.of(graph);
      List<Value> all = regions.flags(graph);
      for (Node node : graph.nodes()) {
        for (Value condition : regions.conditions(node)) {
          if (!flags.get().holds(device, all.indexOf(condition))) {
            skipped.add(node);
          }
        }
      }
    }
    return skipped;
  }

  static List<List<Node>> nodes(Program program) {
    return program.devices().stream().map(device -> device.graph().nodes()).toList();
  }

  /** The costs of each device, shared by those of one role on chips of one kind. */
  private List<RoleCosts> costs(Program program) {
    RoleCosts[] costs = new RoleCosts[program.devices().size()];
    for (Role role : Roles.of(program)) {
      Map<String, RoleCosts> byChip = new HashMap<>();
      for (int device : role.devices()) {
        ChipKind chip = target.devices().get(device);
        Module local = program.devices().get(device);
        costs[device] =
            byChip.computeIfAbsent(
                chip.name(),
                name -> new RoleCosts(device, local, chip, timeline.buffer(), options, kernels));
      }
    }
    return List.of(costs);
  }
}
