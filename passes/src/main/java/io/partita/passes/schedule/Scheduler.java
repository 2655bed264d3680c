package io.partita.passes.schedule;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.program.Program;
import io.partita.ir.program.Role;
import io.partita.ir.program.Roles;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.legalize.Legalization;
import io.partita.passes.schedule.tile.TileChoice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Decides everything about how chips run a program. The same input gives the same schedule. */
public final class Scheduler {
  private final Program program;
  private final TargetDescription target;
  private final SchedulerOptions options;
  private final Map<ChipKind, TileChoice> choices = new HashMap<>();

  private Scheduler(Program program, TargetDescription target, SchedulerOptions options) {
    this.program = program;
    this.target = target;
    this.options = options;
  }

  /**
   * @param program of as many devices as the target has, or fewer
   * @throws PartitaException with all {@link ScheduleCode}s that there's reason for, or {@link
   *     io.partita.passes.schedule.tile.TileCode#TOO_LARGE}
   */
  public static Schedule schedule(
      Program program, TargetDescription target, SchedulerOptions options) {
    Program legal = Legalization.legalize(program);
    List<ChipSchedule> roles = new Scheduler(legal, target, options).roles();
    Schedule schedule =
        new Schedule(program, name(target), roles, program.inputs(), program.outputs());
    ScheduleVerifier.verify(schedule);
    return schedule;
  }

  /** With the parameters that aren't as usual: {@code siracusa:chips=4}. */
  private static String name(TargetDescription target) {
    String parameters =
        target.parameters().stream()
            .filter(each -> !each.value().equals(each.standard()))
            .map(Scheduler::text)
            .collect(Collectors.joining(","));
    return target.name() + (parameters.isEmpty() ? "" : ":" + parameters);
  }

  private static String text(Parameter parameter) {
    return parameter.name() + "=" + parameter.value();
  }

  private List<ChipSchedule> roles() {
    Unsupported unsupported = new Unsupported();
    Set<Diagnostic> tooLarge = new LinkedHashSet<>();
    List<ChipTasks> lowered = new ArrayList<>();
    for (List<Integer> devices : groups()) {
      try {
        lowered.add(lower(program, devices, unsupported));
      } catch (PartitaException exception) {
        tooLarge.addAll(exception.diagnostics());
      }
    }
    unsupported.require();
    if (!tooLarge.isEmpty()) {
      throw new PartitaException(List.copyOf(tooLarge));
    }
    return lowered.stream().map(this::place).toList();
  }

  private ChipTasks lower(Program own, List<Integer> devices, Unsupported unsupported) {
    ChipKind chip = chip(devices);
    LoopKernels kernels = new LoopKernels(choices.computeIfAbsent(chip, this::choice));
    return ChipLowering.lower(own, devices, kernels, far(chip).isPresent(), unsupported);
  }

  /** With weights whole, or in parts of the size with which a run takes least time. */
  private ChipSchedule place(ChipTasks tasks) {
    ChipPlacing best = placing(tasks);
    for (long size : best.places().partSizes()) {
      Program own = CutWeights.cut(program, tasks.devices(), size);
      ChipPlacing placing = placing(lower(own, tasks.devices(), new Unsupported()));
      best = placing.places().isBetterThan(best.places()) ? placing : best;
    }
    return best.schedule();
  }

  private ChipPlacing placing(ChipTasks tasks) {
    ChipKind chip = chip(tasks.devices());
    return new ChipPlacing(tasks, chip, l1(chip), options.prefetch());
  }

  private ChipKind chip(List<Integer> devices) {
    return target.devices().get(devices.getFirst());
  }

  private TileChoice choice(ChipKind chip) {
    return new TileChoice(chip, l1(chip), options.doubleBuffer());
  }

  private long l1(ChipKind chip) {
    return options.l1Bytes().orElse(chip.working().usable());
  }

  /** L2: the largest memory on the chip but for the one that kernels work on. */
  public static Memory near(ChipKind chip) {
    return chip.near().orElseThrow(() -> new IllegalArgumentException(chip.name() + " has no L2"));
  }

  /** The memory beyond L2. */
  public static Optional<Memory> far(ChipKind chip) {
    return chip.memories().stream()
        .filter(memory -> memory.scope() == Memory.Scope.OFF_CHIP)
        .findFirst();
  }

  /** Devices on equal chips whose programs differ in constants and exchanges only. */
  private List<List<Integer>> groups() {
    List<List<Integer>> groups = new ArrayList<>();
    for (Role role : Roles.of(program)) {
      Map<List<Object>, List<Integer>> alike = new LinkedHashMap<>();
      for (int device : role.devices()) {
        List<Node> nodes = program.devices().get(device).graph().nodes();
        List<Object> key = new ArrayList<>();
        key.add(target.devices().get(device));
        for (int node : role.varying()) {
          Op op = nodes.get(node).op();
          if (!(op instanceof Source.Constant || op instanceof Communication.Exchange)) {
            key.add(op);
          }
        }
        alike.computeIfAbsent(key, each -> new ArrayList<>()).add(device);
      }
      groups.addAll(alike.values());
    }
    return groups;
  }
}
