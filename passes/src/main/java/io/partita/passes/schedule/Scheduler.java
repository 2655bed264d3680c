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
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.graph.state.SharedWeights;
import io.partita.passes.schedule.legalize.Legalization;
import io.partita.passes.schedule.legalize.RoleLegalization;
import io.partita.passes.schedule.place.PlacedRuns;
import io.partita.passes.schedule.place.Places;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.schedule.tile.TileChoice;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Schedules programs for chips. Deterministic. */
public final class Scheduler {
  /** Usual shares of the time that are past after a stage. */
  private static final double LEGAL = 0.03;

  private static final double LOWERED = 0.15;
  private static final double PLACED = 0.7;

  private final List<Program> programs;
  private final TargetDescription target;
  private final SchedulerOptions options;
  private final Consumer<Misfit> misfits;
  private final boolean isForPrice;
  private final ProgressListener progress;
  private final Map<ChipKind, TileChoice> choices = new ConcurrentHashMap<>();
  private final Map<ChipKind, TileChoice> besideValues = new ConcurrentHashMap<>();

  /** Parts of weights that are preloaded must save more than predictions may err. */
  private static final double PARTS_WORTH = 0.99;

  private Scheduler(
      List<Program> programs,
      TargetDescription target,
      SchedulerOptions options,
      Consumer<Misfit> misfits,
      boolean isForPrice,
      ProgressListener progress) {
    this.programs = programs;
    this.target = target;
    this.options = options;
    this.misfits = misfits;
    this.isForPrice = isForPrice;
    this.progress = progress;
  }

  /**
   * @param program a program for at most as many devices as the target has
   * @throws PartitaException with all {@link ScheduleCode}s that apply, or {@link
   *     io.partita.passes.schedule.tile.TileCode#TOO_LARGE}
   */
  public static Schedule schedule(
      Program program, TargetDescription target, SchedulerOptions options) {
    return schedule(List.of(program), target, options, ProgressListener.NONE).getFirst();
  }

  /**
   * Returns schedules of the entry points of a program, which may run in any order: they have the
   * same weights and states at the same addresses, and no other data persists between runs.
   *
   * @param programs the entry points, on the same devices and with the same states
   * @param progress receives the current step and its share of the work
   * @throws PartitaException as {@link #schedule(Program, TargetDescription, SchedulerOptions)}
   */
  public static List<Schedule> schedule(
      List<Program> programs,
      TargetDescription target,
      SchedulerOptions options,
      ProgressListener progress) {
    progress.step("preparing operations for kernels", 0, 1);
    List<Program> legal = new ArrayList<>();
    for (Program program : programs) {
      Program one =
          Legalization.legalize(
              program, leastWorkingBytes(program, target, options), arePaged(program, target));
      legal.add(legal.isEmpty() ? one : SharedWeights.share(legal.getFirst(), one));
    }
    Consumer<Misfit> refuse =
        misfit -> {
          throw misfit.exception();
        };
    List<List<ChipSchedule>> roles =
        new Scheduler(legal, target, options, refuse, false, progress).roles();
    List<Schedule> schedules = new ArrayList<>();
    for (int entry = 0; entry < programs.size(); entry++) {
      int number = entry;
      Program program = programs.get(entry);
      schedules.add(
          new Schedule(
              program,
              name(target),
              roles.stream().map(entries -> entries.get(number)).toList(),
              program.inputs(),
              program.outputs()));
    }
    ScheduleVerifier.verify(schedules, progress.part(PLACED, 1));
    ScheduleVerifier.verifyTogether(schedules);
    return schedules;
  }

  /**
   * Returns a schedule with the same cycles as that of {@link #schedule}, in a fraction of the
   * time: it has only the weights of the first device of each role, is not verified, and reports
   * memories that are too small.
   *
   * @throws PartitaException as {@link #schedule(Program, TargetDescription, SchedulerOptions)} if
   *     an operation has no kernel, or its tiles don't fit
   */
  public static PricedSchedule price(
      Program program, TargetDescription target, SchedulerOptions options) {
    Program legal =
        RoleLegalization.legalize(
            program, leastWorkingBytes(program, target, options), arePaged(program, target));
    List<Misfit> misfits = new ArrayList<>();
    List<List<ChipSchedule>> roles =
        new Scheduler(List.of(legal), target, options, misfits::add, true, ProgressListener.NONE)
            .roles();
    if (!misfits.isEmpty()) {
      return new PricedSchedule(Optional.empty(), misfits);
    }
    Schedule schedule =
        new Schedule(
            program,
            name(target),
            roles.stream().map(List::getFirst).toList(),
            program.inputs(),
            program.outputs());
    return new PricedSchedule(Optional.of(schedule), misfits);
  }

  /** Returns the least bytes that loops may use on any of the devices. */
  private static long leastWorkingBytes(
      Program program, TargetDescription target, SchedulerOptions options) {
    return target.devices().subList(0, program.devices().size()).stream()
        .mapToLong(chip -> workingBytes(chip, options))
        .min()
        .orElseThrow();
  }

  private static boolean arePaged(Program program, TargetDescription target) {
    return target.devices().subList(0, program.devices().size()).stream()
        .anyMatch(TileChoice::arePaged);
  }

  /** Returns the name of the target with its non-default parameters: {@code siracusa:chips=4}. */
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

  /** Returns the schedules of the entry points of each role. */
  private List<List<ChipSchedule>> roles() {
    Unsupported unsupported = new Unsupported();
    Set<Diagnostic> tooLarge = new LinkedHashSet<>();
    List<RoleTasks> lowered = new ArrayList<>();
    List<List<Integer>> groups = groups();
    for (int group = 0; group < groups.size(); group++) {
      progress.part(LEGAL, LOWERED).step("choosing tiles", group, groups.size());
      try {
        lowered.add(lower(programs, groups.get(group), unsupported));
      } catch (PartitaException exception) {
        tooLarge.addAll(exception.diagnostics());
      }
    }
    unsupported.require();
    if (!tooLarge.isEmpty()) {
      throw new PartitaException(List.copyOf(tooLarge));
    }
    List<PlacedRole> placed = placed(lowered);
    placed.forEach(role -> role.misfits().forEach(misfits));
    return placed.stream().map(PlacedRole::schedules).toList();
  }

  /** Roles are placed in parallel; steps are reported on this thread. */
  private List<PlacedRole> placed(List<RoleTasks> lowered) {
    List<ForkJoinTask<PlacedRole>> running =
        lowered.stream().map(role -> ForkJoinPool.commonPool().submit(() -> place(role))).toList();
    List<PlacedRole> placed = new ArrayList<>();
    for (ForkJoinTask<PlacedRole> role : running) {
      progress.part(LOWERED, PLACED).step("placing data", placed.size(), running.size());
      placed.add(role.join());
    }
    return placed;
  }

  private RoleTasks lower(List<Program> own, List<Integer> devices, Unsupported unsupported) {
    ChipKind chip = chip(devices);
    LoopKernels kernels = new LoopKernels(choices.computeIfAbsent(chip, this::choice));
    SharedRegions regions = new SharedRegions();
    boolean hasFar = chip.far().isPresent();
    long nearBytes = options.nearValues() ? NearValues.largestBytes(chip, workingBytes(chip)) : 0;
    List<ChipTasks> entries =
        own.stream()
            .map(
                program ->
                    ChipLowering.lower(
                        program,
                        devices,
                        holders(devices),
                        kernels,
                        regions,
                        workingBytes(chip),
                        hasFar,
                        nearBytes,
                        options.weights(),
                        unsupported))
            .toList();
    RoleTasks all =
        new RoleTasks(
            entries.stream().map(tasks -> tasks.with(kernels.kernels())).toList(), kernels);
    return options.nearValues() ? NearValues.keep(all, chip, rest(chip), workingBytes(chip)) : all;
  }

  /**
   * The result for one role.
   *
   * @param schedules the schedules of the entry points that fit
   * @param misfits the shortages of the others
   */
  private record PlacedRole(List<ChipSchedule> schedules, List<Misfit> misfits) {}

  /** Schedules with whole weights, or with parts of the size that minimises the time. */
  private PlacedRole place(RoleTasks whole) {
    List<Integer> devices = whole.entries().getFirst().devices();
    ChipKind chip = chip(devices);
    List<ChipTasks> best = whole.entries();
    PlacedRuns places = places(best, chip);
    for (long size : places.partSizes(options.leastTraffic())) {
      List<Program> own = SplitWeights.cut(programs, holders(devices), size);
      List<ChipTasks> cut = lower(own, devices, new Unsupported()).entries();
      PlacedRuns others = places(cut, chip);
      if (others.isBetterThan(places, options.leastTraffic())) {
        best = cut;
        places = others;
      }
    }
    if (options.prefetch() && places.keepsAll()) {
      List<ChipTasks> ahead = preloaded(whole, chip);
      PlacedRuns others = places(ahead, chip);
      if (others.keepsAll()) {
        best = ahead;
        places = others;
      }
    }
    List<ChipSchedule> schedules = new ArrayList<>();
    List<Misfit> all = new ArrayList<>();
    for (int entry = 0; entry < best.size(); entry++) {
      Places own = places.runs().get(entry);
      List<Misfit> found = ChipPlacing.misfits(best.get(entry), chip, own);
      all.addAll(found);
      if (found.isEmpty()) {
        schedules.add(ChipPlacing.schedule(best.get(entry), chip, workingBytes(chip), own));
      }
    }
    return new PlacedRole(schedules, all);
  }

  /** Preloads whole weights, or parts of the size that minimises the time of loops. */
  private List<ChipTasks> preloaded(RoleTasks whole, ChipKind chip) {
    List<Integer> devices = whole.entries().getFirst().devices();
    Optional<PreloadRoom> preloadRoom = PreloadRoom.of(target, chip);
    if (preloadRoom.isEmpty()) {
      return whole.entries();
    }
    Preloads.Result best = Preloads.add(whole, chip, rest(chip), preloadRoom.get());
    for (long size : Preloads.partSizes(whole)) {
      List<Program> own = SplitWeights.cut(programs, holders(devices), size);
      RoleTasks cut = lower(own, devices, new Unsupported());
      Preloads.Result other = Preloads.add(cut, chip, rest(chip), preloadRoom.get());
      if (other.cycles() < best.cycles() * PARTS_WORTH) {
        best = other;
      }
    }
    return best.tasks().entries();
  }

  private PlacedRuns places(List<ChipTasks> entries, ChipKind chip) {
    return ChipPlacing.places(entries, chip, options.prefetch(), options.leastTraffic());
  }

  /** For prices, one device represents its role, since only exchanges differ. */
  private List<Integer> holders(List<Integer> devices) {
    return isForPrice ? devices.subList(0, 1) : devices;
  }

  private ChipKind chip(List<Integer> devices) {
    return target.devices().get(devices.getFirst());
  }

  private TileChoice choice(ChipKind chip) {
    return TileChoice.of(chip, workingBytes(chip), options.doubleBuffer());
  }

  /** Returns the choice of tiles for the working memory beside near values. */
  private TileChoice rest(ChipKind chip) {
    return besideValues.computeIfAbsent(chip, this::besideValues);
  }

  private TileChoice besideValues(ChipKind chip) {
    return TileChoice.of(chip, NearValues.loopBytes(workingBytes(chip)), options.doubleBuffer());
  }

  private long workingBytes(ChipKind chip) {
    return workingBytes(chip, options);
  }

  private static long workingBytes(ChipKind chip, SchedulerOptions options) {
    return options.workingBytes().orElse(usable(chip.working(), chip));
  }

  /** Returns the memory of tensors while steps use them. */
  public static Memory home(ChipKind chip) {
    return chip.home()
        .orElseThrow(() -> new IllegalArgumentException(chip.name() + " has only one memory"));
  }

  static MemoryUse unused(Memory memory, ChipKind chip) {
    return new MemoryUse(
        memory.name(),
        memory.scope() == Memory.Scope.CORE,
        memory.alignment(),
        0,
        0,
        usable(memory, chip));
  }

  /** Returns the bytes of one core, if each core has its own part. */
  private static long usable(Memory memory, ChipKind chip) {
    return memory.scope() == Memory.Scope.CORE ? memory.usable() / chip.cores() : memory.usable();
  }

  /** Groups devices on equal chips that have the same roles in all entry points. */
  private List<List<Integer>> groups() {
    List<List<Integer>> groups = groups(programs.getFirst());
    for (Program program : programs.subList(1, programs.size())) {
      List<List<Integer>> others = groups(program);
      groups =
          groups.stream()
              .flatMap(
                  group ->
                      others.stream().map(other -> group.stream().filter(other::contains).toList()))
              .filter(common -> !common.isEmpty())
              .toList();
    }
    return groups;
  }

  /** Groups devices on equal chips whose programs differ only in constants and exchanges. */
  private List<List<Integer>> groups(Program program) {
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
