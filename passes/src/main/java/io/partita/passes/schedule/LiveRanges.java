package io.partita.passes.schedule;

import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Residence;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.passes.schedule.ChipTasks.Named;
import io.partita.passes.schedule.place.Placement;
import io.partita.passes.schedule.place.Places;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The live ranges of the regions of a chip: from the first step that uses a region, or its
 * transfer, to the last one.
 */
final class LiveRanges {
  private final ChipTasks tasks;
  private final Places places;
  private final List<ScheduleStep> steps;
  private final Set<Region> streamed = Collections.newSetFromMap(new IdentityHashMap<>());

  /** The first and the last step that uses a region. */
  private final Map<Region, Integer> first = new IdentityHashMap<>();

  private final Map<Region, Integer> last = new IdentityHashMap<>();

  private LiveRanges(ChipTasks tasks, Places places, List<ScheduleStep> steps) {
    this.tasks = tasks;
    this.places = places;
    this.steps = steps;
    streamed.addAll(places.streamed());
  }

  /**
   * @param steps of a run: those of the tasks, with the transfers of the places before each
   */
  static List<Residence> of(ChipTasks tasks, Places places, List<ScheduleStep> steps) {
    LiveRanges ranges = new LiveRanges(tasks, places, steps);
    ranges.use();
    return ranges.residences();
  }

  private void use() {
    tasks.inputs().forEach(port -> first.put(port.region(), -1));
    int step = 0;
    for (int task = 0; task < tasks.tasks().size(); task++) {
      for (ScheduleStep before : places.before().get(task)) {
        readPosition(before, task, step++);
      }
      for (Region region : tasks.tasks().get(task).used()) {
        first.putIfAbsent(region, step);
        last.put(region, step);
      }
      step++;
    }
    for (ScheduleStep behind : places.before().getLast()) {
      readPosition(behind, tasks.tasks().size(), step++);
    }
    for (Named port : tasks.outputs()) {
      first.putIfAbsent(port.region(), steps.size());
      last.put(port.region(), steps.size());
    }
  }

  /** A spill of lines reads the position of the update that is the task before it. */
  private void readPosition(ScheduleStep spill, int task, int step) {
    if (spill instanceof ScheduleStep.StartTransfer start && start.lines().isPresent()) {
      Task.Loop update = (Task.Loop) tasks.tasks().get(task - 1);
      update.scalars().forEach(position -> last.put(position, step));
    }
  }

  private List<Residence> residences() {
    Map<Region, List<Integer>> transfers = transfers();
    List<Residence> residences = new ArrayList<>();
    for (Map.Entry<Region, Long> each : places.home().entrySet()) {
      Region region = each.getKey();
      if (streamed.contains(region)) {
        residences.addAll(streamed(region, transfers.get(region)));
      } else {
        boolean moves = region.kind() == Region.Kind.ACTIVATION;
        residences.add(
            residence(
                region,
                moves ? first.get(region) : -1,
                moves ? last.getOrDefault(region, first.get(region)) : steps.size()));
      }
    }
    tasks.near().keySet().stream()
        .filter(region -> region.parts().getFirst() == region)
        .flatMap(region -> near(region).stream())
        .sorted(Comparator.comparingInt(Residence::first).thenComparingLong(Residence::offset))
        .forEach(residences::add);
    return residences;
  }

  /**
   * Returns the live ranges of a region in the working memory; constants are copied there first,
   * unless they are preloaded. What the run before has preloaded lives until its loop, and then
   * from its next preload on.
   */
  private List<Residence> near(Region region) {
    Optional<Region> ahead =
        tasks.ahead().stream()
            .map(Task.Preload::constant)
            .filter(constant -> constant.parts().contains(region))
            .findFirst();
    if (ahead.isPresent()) {
      int until =
          tasks(task -> task instanceof Task.Loop && task.used().contains(region))
              .max()
              .orElseThrow();
      int again =
          tasks(task -> task instanceof Task.Preload own && own.constant() == ahead.get())
              .min()
              .orElseThrow();
      return List.of(near(region, -1, step(until)), near(region, step(again), steps.size()));
    }
    boolean isConstant =
        region.kind() == Region.Kind.CONSTANT
            && tasks.tasks().stream()
                .noneMatch(task -> task instanceof Task.Preload own && own.constant() == region);
    return List.of(near(region, isConstant ? 0 : first.get(region), last.get(region)));
  }

  /** Returns the numbers of some tasks. */
  private IntStream tasks(Predicate<Task> filter) {
    return IntStream.range(0, tasks.tasks().size())
        .filter(task -> filter.test(tasks.tasks().get(task)));
  }

  private int step(int task) {
    return task + places.before().subList(0, task + 1).stream().mapToInt(List::size).sum();
  }

  private Residence near(Region region, int from, int to) {
    return new Residence(
        region.name(),
        new Address(ChipSchedule.WORKING, tasks.near().get(region)),
        region.bytes(),
        from,
        to);
  }

  private Residence residence(Region region, int from, int to) {
    long bytes =
        Placement.aligned(region.bytes(), Placement.unit(places.homeUse(), places.farUse()));
    return new Residence(region.name(), Address.home(places.home().get(region)), bytes, from, to);
  }

  /** Begins with its transfer, which may be in the previous run. */
  private List<Residence> streamed(Region region, List<Integer> transfers) {
    int used = last.get(region);
    boolean isEarly = transfers.getFirst() < 0;
    List<Integer> own = transfers.stream().filter(i -> i < used || !isFetch(steps.get(i))).toList();
    List<Residence> residences = new ArrayList<>();
    residences.add(residence(region, own.getFirst(), Math.max(used, own.getLast())));
    if (isEarly) {
      int again = transfers.stream().filter(i -> i > used).findFirst().orElseThrow();
      residences.add(residence(region, again, steps.size()));
    }
    return residences;
  }

  private static boolean isFetch(ScheduleStep step) {
    return step instanceof ScheduleStep.StartTransfer start && start.fetch();
  }

  /** The steps that start transfers of streamed regions, or wait for them; -1 before a run. */
  private Map<Region, List<Integer>> transfers() {
    NavigableMap<Long, Region> regions = new TreeMap<>();
    places.streamed().forEach(region -> regions.put(places.far().get(region), region));
    Map<Integer, Region> underWay = new HashMap<>();
    Map<Region, List<Integer>> transfers = new IdentityHashMap<>();
    for (ScheduleStep step : places.start()) {
      if (step instanceof ScheduleStep.StartTransfer start) {
        Region region = regions.floorEntry(start.far().offset()).getValue();
        underWay.put(start.transfer(), region);
        transfers.computeIfAbsent(region, each -> new ArrayList<>(List.of(-1)));
      }
    }
    for (int i = 0; i < steps.size(); i++) {
      Region region =
          switch (steps.get(i)) {
            case ScheduleStep.StartTransfer start -> {
              Region moved = regions.floorEntry(start.far().offset()).getValue();
              underWay.put(start.transfer(), moved);
              yield moved;
            }
            case ScheduleStep.WaitTransfer wait -> underWay.remove(wait.transfer());
            case ScheduleStep other -> null;
          };
      if (region != null) {
        transfers.computeIfAbsent(region, each -> new ArrayList<>()).add(i);
      }
    }
    return transfers;
  }
}
