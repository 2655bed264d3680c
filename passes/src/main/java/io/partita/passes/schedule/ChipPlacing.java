package io.partita.passes.schedule;

import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import io.partita.passes.schedule.ChipTasks.Named;
import io.partita.passes.schedule.place.PlacedRuns;
import io.partita.passes.schedule.place.Placement;
import io.partita.passes.schedule.place.Places;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.place.TransferTimes;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Builds a chip's schedule from its tasks, with addresses of all regions. */
final class ChipPlacing {
  /** A placeholder if there is no farther memory. */
  private static final MemoryUse NO_MEMORY = new MemoryUse("none", false, 1, 0, 0, 0);

  private final ChipTasks tasks;
  private final ChipKind chip;
  private final long workingBytes;
  private final Places places;
  private final Set<Region> streamed = Collections.newSetFromMap(new IdentityHashMap<>());

  private ChipPlacing(ChipTasks tasks, ChipKind chip, long workingBytes, Places places) {
    this.tasks = tasks;
    this.chip = chip;
    this.workingBytes = workingBytes;
    this.places = places;
    streamed.addAll(places.streamed());
  }

  /** Assigns addresses to the regions of all entry points of a chip's program. */
  static PlacedRuns places(
      List<ChipTasks> entries, ChipKind chip, boolean prefetch, boolean leastTraffic) {
    Set<Region> outside = Collections.newSetFromMap(new IdentityHashMap<>());
    entries.forEach(tasks -> outside.addAll(tasks.outside()));
    return Placement.of(
        entries.stream()
            .map(
                tasks ->
                    new Placement.Run(
                        tasks.tasks(),
                        regions(tasks.inputs()),
                        regions(tasks.outputs()),
                        times(tasks, chip)))
            .toList(),
        outside,
        Scheduler.unused(Scheduler.home(chip), chip),
        chip.far().map(memory -> Scheduler.unused(memory, chip)).orElse(NO_MEMORY),
        prefetch,
        leastTraffic);
  }

  /** Returns the schedule of an entry point that fits. */
  static ChipSchedule schedule(ChipTasks tasks, ChipKind chip, long workingBytes, Places places) {
    return new ChipPlacing(tasks, chip, workingBytes, places).schedule();
  }

  /**
   * Returns the memories that are too small for an entry point: none, the farther one, or the home
   * memory.
   */
  static List<Misfit> misfits(ChipTasks tasks, ChipKind chip, Places places) {
    return new ChipPlacing(tasks, chip, 0, places).misfits();
  }

  private List<Misfit> misfits() {
    List<Region> far =
        places.far().keySet().stream()
            .sorted(Comparator.comparingLong(Region::bytes).reversed())
            .toList();
    return Stream.of(
            chip.far().flatMap(memory -> misfit(ScheduleCode.FAR, memory, places.farUse(), far)),
            misfit(ScheduleCode.HOME, Scheduler.home(chip), places.homeUse(), places.peak()))
        .flatMap(Optional::stream)
        .toList();
  }

  /** Excludes messages, whose time does not depend on addresses. */
  private static TransferTimes times(ChipTasks tasks, ChipKind chip) {
    List<Double> loops =
        tasks.kernels().stream().map(kernel -> LoopTime.of(kernel, chip).cycles()).toList();
    String home = Scheduler.home(chip).name();
    Optional<Memory> far = chip.far();
    return new TransferTimes(
        tasks.tasks().stream()
            .map(task -> task instanceof Task.Loop loop ? loops.get(loop.index()) : 0.0)
            .toList(),
        IntStream.range(0, tasks.tasks().size())
            .filter(i -> tasks.tasks().get(i) instanceof Task.Rows)
            .boxed()
            .toList(),
        far.flatMap(memory -> chip.channel(memory.name(), home)),
        far.flatMap(memory -> chip.channel(home, memory.name())));
  }

  private static List<Region> regions(List<Named> ports) {
    return ports.stream().map(Named::region).toList();
  }

  private ChipSchedule schedule() {
    List<ScheduleStep> start = new ArrayList<>();
    tasks.states().stream()
        .map(Named::region)
        .filter(region -> !streamed.contains(region))
        .forEach(region -> start.add(clear(region)));
    start.addAll(places.start());
    tasks.ahead().forEach(preload -> start.add(preload(preload)));
    List<ScheduleStep> steps = steps();
    return new ChipSchedule(
        tasks.devices(),
        CoreGrid.of(chip),
        memories(),
        tasks.kernels(),
        start,
        steps,
        ports(tasks.inputs()),
        ports(tasks.outputs()),
        ports(tasks.states()),
        constants(),
        LiveRanges.of(tasks, places, steps),
        Optional.of(meaning()));
  }

  /** Stored values are numbered like {@link #constants}. */
  private StepMeaning meaning() {
    int[] steps = new int[tasks.tasks().size()];
    int next = 0;
    for (int task = 0; task < steps.length; task++) {
      next += places.before().get(task).size();
      steps[task] = next++;
    }
    List<Region> stored = storedRegions();
    Map<Region, Integer> numbers = new IdentityHashMap<>();
    for (int i = 0; i < stored.size(); i++) {
      numbers.putIfAbsent(stored.get(i), i);
    }
    WrittenValues values = tasks.values();
    return new StepMeaning(
        values.graphs(),
        values.written().stream()
            .map(
                each ->
                    new StepMeaning.Result(
                        steps[each.task()],
                        each.node(),
                        each.index(),
                        address(each.storage()),
                        each.storage().strides(),
                        each.isGuarded()))
            .toList(),
        values.stored().stream()
            .filter(each -> numbers.containsKey(each.region()))
            .map(
                each ->
                    new StepMeaning.Stored(each.node(), each.index(), numbers.get(each.region())))
            .toList());
  }

  private ScheduleStep.Clear clear(Region region) {
    return new ScheduleStep.Clear(places.home().get(region), region.bytes(), region.origin());
  }

  private List<MemoryUse> memories() {
    List<MemoryUse> memories = new ArrayList<>();
    MemoryUse working = Scheduler.unused(chip.working(), chip);
    long used = workingUsed();
    memories.add(
        new MemoryUse(
            working.name(), working.isPrivate(), working.alignment(), used, used, workingBytes));
    memories.add(places.homeUse());
    chip.far().ifPresent(memory -> memories.add(places.farUse()));
    return memories;
  }

  private long workingUsed() {
    long loops =
        tasks.kernels().stream().mapToLong(kernel -> kernel.workingBytes()).max().orElse(0);
    boolean exchanges = tasks.tasks().stream().anyMatch(task -> task instanceof Task.Exchange);
    long values =
        tasks.near().entrySet().stream()
            .mapToLong(each -> each.getValue() + each.getKey().bytes())
            .max()
            .orElse(0);
    return Math.max(exchanges ? tasks.loopBytes() : loops, values);
  }

  private Optional<Misfit> misfit(
      ScheduleCode code, Memory memory, MemoryUse use, List<Region> held) {
    return use.used() <= use.available()
        ? Optional.empty()
        : Optional.of(new Misfit(code, tasks.devices().getFirst(), chip, memory, use, held));
  }

  private ScheduleStep.Lines lines(Storage storage) {
    Storage.Lines lines = storage.lines().orElseThrow();
    return new ScheduleStep.Lines(
        at(storage),
        storage.element().packedBytes(lines.elements()),
        storage.element().packedBytes(lines.stride()));
  }

  private long at(Storage storage) {
    return address(storage).offset();
  }

  private Address address(Storage storage) {
    Region region = storage.region();
    boolean isNear = tasks.near().containsKey(region);
    return new Address(
        isNear ? ChipSchedule.WORKING : ChipSchedule.HOME,
        (isNear ? tasks.near() : places.home()).get(region) + storage.byteOffset());
  }

  private List<ScheduleStep> steps() {
    List<ScheduleStep> steps = new ArrayList<>();
    for (int i = 0; i < tasks.tasks().size(); i++) {
      steps.addAll(places.before().get(i));
      steps.add(step(i, tasks.tasks().get(i)));
    }
    steps.addAll(places.before().getLast());
    return steps;
  }

  /** The region extends over the transfers between its tasks as well. */
  private ScheduleStep.Guard guard(int number, Task.Guard guard) {
    int steps = guard.tasks();
    for (int task = number + 1; task <= number + guard.tasks(); task++) {
      steps += places.before().get(task).size();
    }
    return new ScheduleStep.Guard(
        guard.conditions().stream()
            .map(each -> new ScheduleStep.Condition(at(each.flag()), each.expected()))
            .toList(),
        steps,
        guard.foreseen(),
        guard.origin());
  }

  private ScheduleStep.Preload preload(Task.Preload preload) {
    return new ScheduleStep.Preload(
        preload.number(),
        places.home().get(preload.constant()) + preload.start(),
        tasks.near().get(preload.constant()) + preload.start(),
        preload.bytes(),
        preload.origin());
  }

  private ScheduleStep step(int number, Task task) {
    return switch (task) {
      case Task.Loop loop ->
          new ScheduleStep.RunTiles(
              loop.index(),
              loop.operands().stream().map(this::at).toList(),
              loop.origin(),
              loop.text());
      case Task.Preload preload -> preload(preload);
      case Task.AwaitPreload await -> new ScheduleStep.AwaitPreload(await.number(), await.origin());
      case Task.Rows rows ->
          new ScheduleStep.FetchRows(
              rows.number(),
              far(rows.table()),
              rows.rows(),
              rows.rowBytes(),
              at(rows.indices()),
              rows.indices().element(),
              rows.indices().elements(),
              at(rows.result()),
              rows.origin());
      case Task.AwaitRows await -> new ScheduleStep.AwaitRows(await.number(), await.origin());
      case Task.BeginExchange begin -> new ScheduleStep.BeginExchange(begin.origin());
      case Task.Exchange exchange ->
          new ScheduleStep.Exchange(
              exchange.exchanges(),
              exchange.element(),
              exchange.operand().map(this::at),
              exchange.result().map(this::lines),
              at(exchange.vector()),
              exchange.message().map(places.home()::get),
              0,
              tasks.exchangeBytes(number, exchange),
              exchange.origin());
      case Task.Guard guard -> guard(number, guard);
      case Task.Clear(var region, var origin) ->
          new ScheduleStep.Clear(places.home().get(region), region.bytes(), origin);
    };
  }

  private List<Port> ports(List<Named> named) {
    return named.stream()
        .map(
            each ->
                streamed.contains(each.region())
                    ? port(each, far(each.region()))
                    : port(each, Address.home(at(each.storage()))))
        .toList();
  }

  private Address far(Region region) {
    return new Address(ChipSchedule.HOME + 1, places.far().get(region));
  }

  private static Port port(Named named, Address at) {
    return new Port(named.name(), named.type(), at, named.range());
  }

  private List<StoredConstant> constants() {
    return Stream.concat(
            storedNear().flatMap(region -> stored(region, Address.home(places.home().get(region)))),
            storedFar().flatMap(region -> stored(region, far(region))))
        .toList();
  }

  /** Returns the constants in the home memory, then those in the farther memory. */
  private List<Region> storedRegions() {
    return Stream.concat(storedNear(), storedFar())
        .flatMap(region -> region.parts().stream())
        .toList();
  }

  private Stream<Region> storedNear() {
    return places.home().keySet().stream()
        .filter(region -> region.kind() == Region.Kind.CONSTANT)
        .filter(region -> !streamed.contains(region));
  }

  /** A table whose rows are fetched may also be in the home memory, for a product. */
  private Stream<Region> storedFar() {
    return places.far().keySet().stream().filter(region -> region.kind() == Region.Kind.CONSTANT);
  }

  private static Stream<StoredConstant> stored(Region region, Address at) {
    List<StoredConstant> stored = new ArrayList<>();
    long offset = at.offset();
    for (Region part : region.parts()) {
      stored.add(constant(part, new Address(at.memory(), offset)));
      offset += part.bytes();
    }
    return stored.stream();
  }

  private static StoredConstant constant(Region region, Address at) {
    return new StoredConstant(
        region.origin(),
        region.name() + " " + region.tensors().getFirst().type(),
        at,
        region.bytes(),
        region.tensors());
  }
}
