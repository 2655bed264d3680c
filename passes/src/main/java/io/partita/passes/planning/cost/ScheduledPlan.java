package io.partita.passes.planning.cost;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.program.Roles;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.planning.residency.Content;
import io.partita.passes.planning.residency.MemoryUse;
import io.partita.passes.planning.residency.Resident;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.planning.residency.WeightPlace;
import io.partita.passes.program.values.Assumptions;
import io.partita.passes.program.values.BlockRanges;
import io.partita.passes.schedule.Misfit;
import io.partita.passes.schedule.PricedSchedule;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.passes.schedule.tile.TileCode;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.Resource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The figures of a program from the schedule that is emitted for its devices, which are those that
 * {@code run --profile} predicts.
 */
final class ScheduledPlan {
  /** The largest number of nodes in all roles for which candidates are scheduled. */
  private static final int MAX_NODES = 20_000;

  /** The number of largest residents in reports. */
  private static final int MAX_NAMED = 4;

  private final Program program;
  private final TargetDescription target;
  private final Schedule schedule;
  private final SchedulePrediction prediction;

  private ScheduledPlan(
      Program program, TargetDescription target, Schedule schedule, SchedulePrediction prediction) {
    this.program = program;
    this.target = target;
    this.schedule = schedule;
    this.prediction = prediction;
  }

  /** Returns the report of a schedule that was predicted for this target. */
  static PlanReport report(
      TargetDescription target, Schedule schedule, SchedulePrediction prediction) {
    return new ScheduledPlan(schedule.program(), target, schedule, prediction).report();
  }

  /**
   * Whether the figures of a plan are those of its schedule. They aren't if the target has no
   * figures for schedules, the options describe a run without schedule, or the program is too large
   * to be scheduled during planning.
   */
  static boolean applies(Program program, TargetDescription target, PlanOptions options) {
    Assumptions assumptions = options.assumptions();
    return assumptions.equals(Assumptions.NONE.with(assumptions.weights()))
        && options.awaitsBlocks()
        && target.devices().stream()
            .allMatch(chip -> !chip.functions().isEmpty() && chip.home().isPresent())
        && nodes(program) <= MAX_NODES;
  }

  /**
   * @param estimate the result of closed formulas, which is returned for a program that doesn't fit
   * @param recorder receives what each resource did during the run
   * @throws PartitaException if an operation has no kernel, or none of its tiles fits
   */
  static PlanReport report(
      Program program,
      TargetDescription target,
      PlanOptions options,
      Supplier<PlanReport> estimate,
      Optional<Consumer<RecordedTimeline>> recorder) {
    SchedulerOptions scheduling =
        new SchedulerOptions(
                OptionalLong.empty(), options.buffers() == 2, SchedulerOptions.STANDARD.prefetch())
            .withWeights(options.assumptions().weights());
    PricedSchedule priced;
    try {
      priced = Scheduler.price(program, target, scheduling);
    } catch (PartitaException failure) {
      boolean isTooLarge =
          failure.diagnostics().stream().allMatch(each -> each.code() == TileCode.TOO_LARGE);
      PlanReport estimated = estimate.get();
      if (isTooLarge && !estimated.fits()) {
        return estimated;
      }
      throw failure;
    }
    return priced
        .schedule()
        .map(
            schedule ->
                report(
                    target,
                    schedule,
                    recorder
                        .map(each -> SchedulePrediction.of(schedule, target, each))
                        .orElseGet(() -> SchedulePrediction.of(schedule, target))))
        .orElseGet(
            () ->
                estimate
                    .get()
                    .with(
                        priced.misfits().stream().map(ScheduledPlan::shortage).toList(),
                        priced.misfits().stream()
                            .collect(
                                Collectors.groupingBy(
                                    Misfit::device,
                                    Collectors.mapping(
                                        ScheduledPlan::contents, Collectors.toList())))));
  }

  private static MemoryUse contents(Misfit misfit) {
    Map<Content, Long> contents = new EnumMap<>(Content.class);
    misfit.held().forEach(region -> contents.merge(content(region), region.bytes(), Long::sum));
    contents.put(Content.WEIGHT_BUFFERS, rest(misfit.use().used(), contents));
    return new MemoryUse(misfit.memory().name(), misfit.use().available(), contents(contents));
  }

  private static Content content(Region region) {
    return switch (region.kind()) {
      case ACTIVATION -> Content.ACTIVATIONS;
      case STATE -> Content.STATES;
      case CONSTANT -> Content.WEIGHTS;
    };
  }

  /** Returns the reports of one device of each role. */
  private static int nodes(Program program) {
    return Roles.of(program).stream()
        .mapToInt(role -> program.devices().get(role.devices().getFirst()).graph().nodes().size())
        .sum();
  }

  private PlanReport report() {
    List<BlockRanges> ranges =
        program.devices().stream().map(device -> BlockRanges.of(device.graph())).toList();
    SyncBlocks blocks = new SyncBlocks(Plans.nodes(program), ranges);
    List<DeviceReport> devices = new ArrayList<>();
    SortedMap<String, Double> joules = new TreeMap<>();
    SortedMap<String, Long> bytes = new TreeMap<>();
    String links = Resource.Kind.LINKS.text();
    for (ChipSchedule role : schedule.roles()) {
      for (int device : role.devices()) {
        DevicePrediction predicted = prediction.devices().get(device);
        Traffic traffic = predicted.traffic();
        double compute = predicted.energy().computeJoules(predicted.computeCycles());
        joules.merge(Resource.Kind.COMPUTE.text(), compute, Double::sum);
        SortedMap<String, Long> moved = moved(target.devices().get(device), traffic);
        moved.forEach(
            (memory, count) -> {
              bytes.merge(memory, count, Long::sum);
              joules.merge(memory, joules(predicted, memory, device), Double::sum);
            });
        if (traffic.sent() > 0) {
          bytes.merge(links, traffic.sent(), Long::sum);
          joules.merge(links, predicted.energy().linkJoules(traffic), Double::sum);
        }
        devices.add(device(role, device, predicted, moved));
      }
    }
    devices.sort(Comparator.comparingInt(DeviceReport::device));
    return new PlanReport(
        target.name(),
        program.mesh(),
        blocks.count(),
        devices,
        prediction.seconds(),
        SchedulePrediction.ofHits(schedule, target)
            .map(hits -> OptionalDouble.of(hits.seconds()))
            .orElse(OptionalDouble.empty()),
        prediction.interval(),
        prediction.breakdown(),
        joules,
        bytes,
        prediction.links(),
        blocks.reports(prediction.syncs()),
        List.of());
  }

  private double joules(DevicePrediction predicted, String memory, int device) {
    Traffic traffic = predicted.traffic();
    boolean isNear = memory.equals(home(target.devices().get(device)));
    return isNear
        ? traffic.homeWorking() * predicted.energy().homeWorking()
        : traffic.farHome() * predicted.energy().farHome();
  }

  private static String home(ChipKind chip) {
    return Scheduler.home(chip).name();
  }

  /** Returns the traffic by the farther of two memories. */
  private static SortedMap<String, Long> moved(ChipKind chip, Traffic traffic) {
    SortedMap<String, Long> moved = new TreeMap<>();
    moved.put(home(chip), traffic.homeWorking());
    chip.far().ifPresent(far -> moved.put(far.name(), traffic.farHome()));
    moved.values().removeIf(bytes -> bytes == 0);
    return moved;
  }

  private DeviceReport device(
      ChipSchedule role, int device, DevicePrediction predicted, SortedMap<String, Long> moved) {
    ChipKind chip = target.devices().get(device);
    return new DeviceReport(
        device,
        chip.name(),
        weights(role),
        bytes(role.constants(), true) + bytes(role.constants(), false),
        memories(role, chip),
        biggest(role),
        predicted.computeCycles() / chip.hertz(),
        moved,
        predicted.joules());
  }

  private static String weights(ChipSchedule role) {
    boolean isNear = bytes(role.constants(), true) > 0;
    boolean isFar = bytes(role.constants(), false) > 0;
    return !isFar
        ? WeightPlace.ON_CHIP.text()
        : isNear ? "some on chip, the others fetched ahead" : "fetched ahead";
  }

  private static long bytes(List<StoredConstant> constants, boolean isHome) {
    return constants.stream()
        .filter(constant -> constant.at().isHome() == isHome)
        .mapToLong(StoredConstant::bytes)
        .sum();
  }

  private static long states(ChipSchedule role, boolean isHome) {
    return role.states().stream()
        .filter(state -> state.at().isHome() == isHome)
        .mapToLong(state -> state.type().bytes())
        .sum();
  }

  /** Returns the uses of memories, nearest first. */
  private static List<MemoryUse> memories(ChipSchedule role, ChipKind chip) {
    List<MemoryUse> memories = new ArrayList<>();
    memories.add(
        new MemoryUse(
            chip.working().name(),
            role.working().available(),
            contents(Map.of(Content.TILES, role.working().used()))));
    Map<Content, Long> near = new EnumMap<>(Content.class);
    near.put(Content.WEIGHTS, bytes(role.constants(), true));
    near.put(Content.STATES, states(role, true));
    long rest = rest(role.home().used(), near);
    near.put(Content.ACTIVATIONS, Math.min(rest, activations(role)));
    near.put(Content.WEIGHT_BUFFERS, rest(role.home().used(), near));
    memories.add(new MemoryUse(home(chip), role.home().available(), contents(near)));
    chip.far()
        .ifPresent(
            memory -> {
              Map<Content, Long> far = new EnumMap<>(Content.class);
              far.put(Content.STATES, states(role, false));
              far.put(Content.WEIGHTS, rest(role.farther().getFirst().used(), far));
              memories.add(
                  new MemoryUse(
                      memory.name(), role.farther().getFirst().available(), contents(far)));
            });
    return memories;
  }

  private static long rest(long used, Map<Content, Long> known) {
    return Math.max(0, used - known.values().stream().mapToLong(Long::longValue).sum());
  }

  private static SortedMap<Content, Long> contents(Map<Content, Long> bytes) {
    SortedMap<Content, Long> contents = new TreeMap<>(bytes);
    contents.values().removeIf(count -> count == 0);
    return contents;
  }

  /** Returns the peak live bytes of activations in the home memory. */
  private static long activations(ChipSchedule role) {
    Set<String> others = new HashSet<>();
    role.constants().forEach(constant -> others.add(constant.name()));
    role.states().forEach(state -> others.add(state.name()));
    long[] change = new long[role.steps().size() + 3];
    for (Residence residence : role.residences()) {
      if (residence.at().isHome() && !others.contains(residence.name())) {
        change[residence.first() + 1] += residence.bytes();
        change[residence.last() + 2] -= residence.bytes();
      }
    }
    long now = 0;
    long most = 0;
    for (long each : change) {
      now += each;
      most = Math.max(most, now);
    }
    return most;
  }

  private static List<Resident> biggest(ChipSchedule role) {
    Stream<Resident> constants =
        role.constants().stream()
            .map(each -> new Resident(each.name(), Content.WEIGHTS, each.bytes()));
    Stream<Resident> states =
        role.states().stream()
            .map((Port each) -> new Resident(each.name(), Content.STATES, each.type().bytes()));
    return Stream.concat(constants, states)
        .sorted(Comparator.comparingLong(Resident::bytes).reversed())
        .limit(MAX_NAMED)
        .toList();
  }

  private static Shortage shortage(Misfit misfit) {
    return new Shortage(
        misfit.device(),
        misfit.chip().name(),
        misfit.memory().name(),
        "all of its data",
        misfit.use().used(),
        misfit.use().available(),
        misfit.held().stream()
            .limit(MAX_NAMED)
            .map(region -> new Resident(region.name(), content(region), region.bytes()))
            .toList());
  }
}
