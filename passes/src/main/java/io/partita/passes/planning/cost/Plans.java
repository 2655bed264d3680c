package io.partita.passes.planning.cost;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.program.Program;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.planning.residency.ResidencyCode;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.values.BlockRanges;
import io.partita.passes.timing.CostCode;
import io.partita.passes.timing.KernelTimes;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    int needed = program.devices().size();
    if (needed > target.deviceCount()) {
      throw new PartitaException(
          ResidencyCode.DEVICES,
          "target " + target.name(),
          "at least " + needed + " devices",
          String.valueOf(target.deviceCount()),
          "give the target more devices, or ask for fewer");
    }
    Supplier<PlanReport> estimate = () -> new Plans(target, options).report(program);
    return ScheduledPlan.applies(program, target, options)
        ? ScheduledPlan.report(program, target, options, estimate)
        : estimate.get();
  }

  private PlanReport report(Program program) {
    List<RoleCosts> costs = costs(program);
    List<DeviceRun> devices = new ArrayList<>();
    List<BlockRanges> ranges = new ArrayList<>();
    for (int device = 0; device < program.devices().size(); device++) {
      RoleCosts role = costs.get(device);
      List<Node> nodes = program.devices().get(device).graph().nodes();
      ranges.add(role.residency().blocks());
      devices.add(new DeviceRun(timeline, kernels, options, device, role, nodes));
    }
    List<Shortage> shortages =
        costs.stream().distinct().flatMap(role -> role.residency().shortages().stream()).toList();
    ProgramTimeline run =
        new ProgramTimeline(timeline, options, devices, new SyncBlocks(nodes(program), ranges));
    run.run();
    return run.report(target.name(), program.mesh(), shortages);
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
