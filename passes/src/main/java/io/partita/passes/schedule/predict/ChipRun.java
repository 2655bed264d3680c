package io.partita.passes.schedule.predict;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.RunningTeam;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.target.FunctionThroughput;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.KernelThroughput;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.timing.Outcome;
import io.partita.passes.timing.SyncEvents;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedSet;

/** The state of a chip while its schedule is played on a timeline. */
final class ChipRun {
  /** The transfers of a tile that is joined: own elements there and back, and those of messages. */
  private static final int TILE_MOVES = 3;

  /** The transfers of a slice that is copied: to the working memory, and back. */
  private static final int COPY_MOVES = 2;

  private static final int NEVER = -1;

  private final TargetTimeline timeline;
  private final Optional<PreloadRoom> preloadRoom;
  private final MemoryNames names;
  private final ChipSchedule role;
  private final RunningTeam running;
  private final ChipKind chip;
  private final int device;
  private final int position;
  private final Map<TiledKernel, LoopTime> times;
  private final SyncEvents syncs;
  private final Verdict verdict;
  private final SequencedSet<String> warm = new LinkedHashSet<>();
  private final Map<Integer, Integer> transfers = new HashMap<>();
  private final Map<Integer, Integer> rows = new HashMap<>();
  private final Map<Integer, Integer> preloads = new HashMap<>();

  /** What the next loop or exchange is to preload, in this order. */
  private final Deque<ScheduleStep.Preload> asked = new ArrayDeque<>();

  /** The bytes of the first of it that are under way. */
  private long started;

  /** Whether the exchange has started preloads, as it does at its own step. */
  private boolean preloading;

  /** Whether an earlier step began the exchange. */
  private boolean isContinued;

  private final List<Integer> ends = new ArrayList<>();
  private final List<Double> computed = new ArrayList<>();
  private final List<Traffic> moved = new ArrayList<>();
  private int reached;

  /** The actions of the exchange that the chip is in, and the next one. */
  private List<Action> actions = List.of();

  private int action;

  /** The ends of the exchange's sends, and how many of them the chip has awaited. */
  private final List<Integer> sends = new ArrayList<>();

  private int awaited;

  /** The exchange that has begun; null if there is none. */
  private ScheduleStep.Exchange exchange;

  /** Whether its last action stores its result. */
  private boolean isKept;

  /** The number of actions before its own step, and those that don't need its operand in place. */
  private int beginning;

  private int keeping = NEVER;

  /** When the exchange may begin to load what it joins next, if that is before it does so. */
  private OptionalInt ahead = OptionalInt.empty();

  /** The step after the guarded region that the chip skips, if it is in one. */
  private int skippedTo;

  /** The end of the kernel that a loop has left running; {@link #NEVER} if there is none. */
  private int team = NEVER;

  private double compute;
  private Traffic traffic = Traffic.NONE;

  /**
   * The names of the memories of a target; the far one is the home memory if there is no farther
   * one.
   */
  record MemoryNames(String working, String home, String far) {}

  ChipRun(
      TargetTimeline timeline,
      Optional<PreloadRoom> preloadRoom,
      MemoryNames names,
      ChipSchedule role,
      RunningTeam running,
      int device,
      Map<TiledKernel, LoopTime> times,
      SyncEvents syncs,
      Verdict verdict) {
    this.timeline = timeline;
    this.preloadRoom = preloadRoom;
    this.verdict = verdict;
    this.syncs = syncs;
    this.names = names;
    this.role = role;
    this.running = running;
    this.chip = timeline.chip(device);
    this.device = device;
    this.position = role.devices().indexOf(device);
    this.times = times;
    this.reached = timeline.join();
  }

  /**
   * A transfer that is in flight when a run begins.
   *
   * @param start the step that starts it, before the first run or at the end of the run before
   */
  private record Early(ScheduleStep start, DmaChannel channel, long bytes) {}

  private List<Early> early() {
    List<Early> early = new ArrayList<>();
    for (ScheduleStep step : role.start()) {
      if (step instanceof ScheduleStep.StartTransfer start) {
        early.add(
            new Early(start, chip.channel(names.far, names.home).orElseThrow(), start.bytes()));
      } else if (step instanceof ScheduleStep.Preload preload) {
        early.add(
            new Early(
                preload, chip.channel(names.home, names.working).orElseThrow(), preload.bytes()));
      }
    }
    return early;
  }

  /**
   * Adds the transfers that are in flight when the run begins.
   *
   * @param left the remaining seconds of each, in the order of their start
   */
  void begin(List<Double> left) {
    List<Early> early = early();
    Map<String, Double> before = new HashMap<>();
    for (int i = 0; i < early.size(); i++) {
      Early each = early.get(i);
      String channel = each.channel.name();
      double seconds = Math.max(0, left.get(i) - before.getOrDefault(channel, 0.0));
      before.merge(channel, seconds, Double::sum);
      String name = each.start.origin().name();
      int end = timeline.occupy(device, channel, name, seconds, each.bytes, reached);
      switch (each.start) {
        case ScheduleStep.StartTransfer start -> transfers.put(start.transfer(), end);
        case ScheduleStep.Preload preload -> preloaded(preload, end);
        default -> throw new AssertionError(each);
      }
    }
  }

  /** Returns the argument of {@link #begin} for a first run, with which all transfers begin. */
  List<Double> cold() {
    List<Double> left = new ArrayList<>();
    Map<String, Double> seconds = new HashMap<>();
    for (Early each : early()) {
      double own = each.channel.cycles(each.bytes, 0) / chip.hertz();
      left.add(seconds.merge(each.channel.name(), own, Double::sum));
    }
    return left;
  }

  /**
   * Returns the argument of {@link #begin} for the next run, which begins when this one has ended
   * on all chips.
   */
  List<Double> left(Outcome outcome) {
    return early().stream()
        .map(
            each ->
                each.start instanceof ScheduleStep.Preload preload
                    ? preloads.get(preload.preload())
                    : transfers.get(((ScheduleStep.StartTransfer) each.start).transfer()))
        .map(end -> outcome.end(end) - outcome.seconds())
        .toList();
  }

  int device() {
    return device;
  }

  int reached() {
    return reached;
  }

  void reached(int event) {
    reached = event;
  }

  /** Runs steps up to the next action of an exchange and returns it; null at the end. */
  Action toAction() {
    while (ends.size() < role.steps().size()) {
      ScheduleStep step = role.steps().get(ends.size());
      if (running.isAwaitedBefore(ends.size()) && team != NEVER) {
        reached = timeline.join(reached, team);
        team = NEVER;
      }
      if (ends.size() < skippedTo && step.isSkippable()) {
        end();
        continue;
      }
      if (step instanceof ScheduleStep.BeginExchange begin) {
        if (exchange == null) {
          begin(begin.next(role.steps(), ends.size()).orElseThrow());
          isContinued = true;
        }
        if (action < beginning) {
          return next();
        }
      } else if (step instanceof ScheduleStep.Exchange now) {
        if (exchange == null) {
          begin(now);
        }
        if (!preloading && action >= beginning) {
          keepOperand();
          if (isContinued) {
            // Other code has run since it began.
            control();
          }
          boolean isAtOnce = own().actions().preloadsAtOnce(now.result().isPresent());
          preload(isAtOnce ? Long.MAX_VALUE : Actions.PRELOADED, false);
          preloading = true;
        }
        if (action < actions.size()) {
          return next();
        }
        end(now);
      } else {
        run(step);
      }
      end();
    }
    return null;
  }

  private Action next() {
    if (action == keeping) {
      keepOperand();
    }
    return actions.get(action);
  }

  private Exchange own() {
    return exchange.exchanges().get(position);
  }

  private void begin(ScheduleStep.Exchange begun) {
    exchange = begun;
    Exchange own = own();
    Actions all = own.actions();
    actions = all.list();
    beginning = all.beginning();
    isKept = all.resulting(own.after()).isPresent();
    preloading = false;
    action = 0;
    sends.clear();
    awaited = 0;
    syncs.begin(own.sync(), device, exchange.origin().name(), reached);
    isContinued = false;
    control();
    keeping = exchange.operand().isPresent() ? all.keeping(own.before()) : NEVER;
  }

  /** Adds what an exchange takes when it begins, and again when it goes on after other steps. */
  private void control() {
    reached = timeline.compute(device, exchange.origin().name(), chip.exchangeCycles(), reached);
  }

  /** Copies the operand to the vector, unless it is there. */
  private void keepOperand() {
    if (keeping != NEVER) {
      copy(own().before(), "operand");
      keeping = NEVER;
    }
  }

  private void end(ScheduleStep.Exchange now) {
    awaitSends(sends.size());
    if (now.result().isPresent() && !isKept) {
      copy(own().after(), "result");
    }
    preload(Long.MAX_VALUE, false);
    syncs.end(own().sync(), reached);
    exchange = null;
  }

  /** Copies slices in the home memory, one after the other, by way of the working memory. */
  private void copy(List<Slice> slices, String label) {
    for (Slice slice : slices) {
      long bytes = exchange.element().packedBytes(slice.size());
      reached = timeline.compute(device, label, COPY_MOVES * chip.moveCycles(), reached);
      move(names.home, names.working, label, bytes);
      move(names.working, names.home, label, bytes);
    }
  }

  private void move(String from, String to, String label, long bytes) {
    reached = timeline.transfer(device, from, to, label, bytes, reached);
    traffic = traffic.plus(new Traffic(bytes, 0, 0, 0));
  }

  private void end() {
    ends.add(team == NEVER ? reached : timeline.join(reached, team));
    computed.add(compute);
    moved.add(traffic);
    compute = 0;
    traffic = Traffic.NONE;
  }

  private void run(ScheduleStep step) {
    switch (step) {
      case ScheduleStep.RunTiles loop -> run(loop);
      case ScheduleStep.StartTransfer start -> start(start);
      case ScheduleStep.WaitTransfer wait ->
          reached = timeline.join(reached, transfers.remove(wait.transfer()));
      case ScheduleStep.Preload preload -> {
        reached = control(preload.origin().name(), chip.moveCycles(), reached);
        asked.add(preload);
        if (!role.isStartedByNext(ends.size())) {
          preload(Long.MAX_VALUE, team != NEVER);
        }
      }
      case ScheduleStep.AwaitPreload await ->
          reached =
              control(
                  await.origin().name(),
                  chip.moveCycles(),
                  reached,
                  preloads.remove(await.preload()));
      case ScheduleStep.FetchRows fetch -> start(fetch);
      case ScheduleStep.AwaitRows await ->
          reached =
              control(
                  await.origin().name(), chip.moveCycles(), reached, rows.remove(await.number()));
      case ScheduleStep.Clear clear ->
          move(names.working, names.home, clear.origin().name(), clear.bytes());
      case ScheduleStep.Guard guard -> {
        reached = timeline.compute(device, guard.origin().name(), chip.operandCycles(), reached);
        skippedTo = guard.runs(device, verdict) ? 0 : ends.size() + 1 + guard.steps();
      }
      case ScheduleStep.BeginExchange begin -> throw new AssertionError(begin);
      case ScheduleStep.Exchange now -> throw new AssertionError(now);
    }
  }

  /**
   * Starts to preload at most so many bytes of what was asked for.
   *
   * @param areComputing whether cores compute meanwhile, which use the same banks
   */
  private void preload(long most, boolean areComputing) {
    for (long room = most; room > 0 && !asked.isEmpty(); ) {
      ScheduleStep.Preload preload = asked.getFirst();
      long bytes = Math.min(preload.bytes() - started, room);
      DmaChannel channel = chip.channel(names.home, names.working).orElseThrow();
      double cycles = channel.cycles(bytes, 0) * (areComputing ? channel.busyFactor() : 1);
      int end =
          timeline.occupy(
              device,
              channel.name(),
              preload.origin().name(),
              cycles / chip.hertz(),
              bytes,
              reached);
      preloaded(preload, end);
      traffic = traffic.plus(new Traffic(bytes, 0, 0, 0));
      room -= bytes;
      started += bytes;
      if (started == preload.bytes()) {
        asked.removeFirst();
        started = 0;
      }
    }
  }

  /** A part of a preload arrives with an event. */
  private void preloaded(ScheduleStep.Preload preload, int end) {
    preloads.merge(preload.preload(), end, (one, other) -> timeline.join(one, other));
  }

  private void run(ScheduleStep.RunTiles loop) {
    TiledKernel kernel = role.kernels().get(loop.kernel());
    LoopTime time = times.computeIfAbsent(kernel, each -> LoopTime.of(each, chip));
    double cold = isWarm(kernel) ? 0 : time.coldCycles();
    String name = loop.origin().name();
    boolean isLeft = running.isLeft(ends.size());
    if (team == NEVER && !isLeft) {
      preload(Long.MAX_VALUE, true);
      reached = timeline.compute(device, name, time.cycles() + cold, reached);
    } else {
      boolean isOneTile = kernel.tiles() == 1;
      double stores =
          isOneTile && time.storedBytes() > 0 ? chip.operandCycles() + time.storeCycles() : 0;
      double cycles = time.computeCycles() + cold;
      double before = time.cycles() - time.computeCycles() - stores - chip.loopCycles();
      // Only the loads of a first tile come before the kernel.
      start(name, isOneTile ? before : 0, isOneTile ? cycles : cycles + before);
      if (!isLeft) {
        reached = timeline.compute(device, name, stores, team);
        team = NEVER;
      }
    }
    compute += time.computeCycles();
    traffic = traffic.plus(new Traffic(time.loadedBytes() + time.storedBytes(), 0, 0, 0));
  }

  /**
   * Starts a kernel; what prepares it is done while the one before runs.
   *
   * @param before the cycles that prepare it
   * @param cycles of the kernel
   */
  private void start(String name, double before, double cycles) {
    int ready = control(name, Math.max(0, before), reached);
    int idle = team == NEVER ? ready : timeline.join(ready, team);
    reached = timeline.compute(device, name, chip.loopCycles(), idle);
    preload(Long.MAX_VALUE, true);
    team = timeline.compute(device, name, cycles, reached);
  }

  /** Adds work of the control core, which doesn't wait for a kernel that was left running. */
  private int control(String label, double cycles, int... after) {
    return team == NEVER
        ? timeline.compute(device, label, cycles, after)
        : timeline.control(device, label, cycles, after);
  }

  /**
   * Returns whether the instructions of a kernel are cached, and caches them, which may evict
   * others.
   */
  private boolean isWarm(TiledKernel kernel) {
    boolean isWarm = true;
    for (String function : LoopTime.functions(kernel, chip)) {
      isWarm &= warm.contains(function);
      warm.remove(function);
      warm.addLast(function);
      if (warm.size() > chip.warmFunctions()) {
        warm.removeFirst();
      }
    }
    return isWarm;
  }

  private void start(ScheduleStep.StartTransfer start) {
    String from = start.fetch() ? names.far : names.home;
    String to = start.fetch() ? names.home : names.far;
    double issue = chip.channel(from, to).map(DmaChannel::issueCycles).orElse(0.0);
    long transfers = start.lines().map(StateLines::parts).orElse(1L);
    reached = timeline.compute(device, start.origin().name(), transfers * issue, reached);
    int end = reached;
    for (long i = 0; i < transfers; i++) {
      end =
          timeline.transfer(
              device, from, to, start.origin().name(), start.bytes() / transfers, end);
    }
    this.transfers.put(start.transfer(), end);
    traffic = traffic.plus(new Traffic(0, start.bytes(), 0, 0));
  }

  /** The rows follow each other. */
  private void start(ScheduleStep.FetchRows fetch) {
    reached = control(fetch.origin().name(), chip.operandCycles(), reached);
    int end = reached;
    for (long row = 0; row < fetch.count(); row++) {
      end =
          timeline.transfer(
              device, names.far, names.home, fetch.origin().name(), fetch.rowBytes(), end);
    }
    rows.put(fetch.number(), end);
    traffic = traffic.plus(new Traffic(0, fetch.bytes(), 0, 0));
  }

  /** Returns the number of the sync that is being exchanged. */
  int sync() {
    return own().sync();
  }

  private void awaitSends(int count) {
    for (; awaited < count; awaited++) {
      reached = timeline.join(reached, sends.get(awaited));
    }
  }

  /** Starts the message of the next action, after packing its slices if it is sent. */
  void start() {
    awaitSends(actions.get(action).ended());
    Step message = actions.get(action).message();
    reached = timeline.compute(device, message.toString(), chip.messageCycles(), reached);
    if (message instanceof Step.Send send && send.slices().size() > 1) {
      copy(send.slices(), send.toString());
    }
  }

  /** The next action's receive has been posted. */
  void posted() {
    action++;
  }

  /**
   * The next action's message is sent.
   *
   * @param event at whose end it is on its way
   */
  void sent(long bytes, int event) {
    traffic = traffic.plus(new Traffic(0, 0, bytes, 0));
    sends.add(event);
    action++;
  }

  /** The next action begins to load what is joined next, once it has arrived. */
  void loads() {
    awaitSends(actions.get(action).ended());
    reached = timeline.compute(device, "load", chip.messageCycles(), reached);
    ahead = OptionalInt.of(reached);
    action++;
  }

  /**
   * Stores received messages, or joins them with the elements that are there.
   *
   * @param arrived the event at which they have arrived
   */
  void finish(Action.Finish finish, int arrived) {
    awaitSends(finish.ended());
    if (preloading) {
      preloadRoom.ifPresent(room -> preload(room.during(actions, action), false));
    }
    Step.Receive first = finish.messages().getFirst();
    int count = finish.messages().size();
    OptionalInt before = ahead;
    ahead = OptionalInt.empty();
    reached = timeline.compute(device, first.toString(), chip.messageCycles(), reached, arrived);
    int ready = before.isPresent() ? timeline.join(before.getAsInt(), arrived) : reached;
    traffic = traffic.plus(new Traffic(0, 0, 0, count * first.bytes()));
    if (first.combine() != Combine.REPLACE) {
      join(first, count, ready);
    } else if (first.slices().size() > 1) {
      copy(first.slices(), first.toString());
    }
    action++;
  }

  /**
   * Joins messages tile by tile: the next tile is loaded while one is joined.
   *
   * @param ready when the first tile may be loaded
   */
  private void join(Step.Receive first, int count, int ready) {
    ElementType element = exchange.element();
    long elements = Slice.elements(first.slices());
    long most = Math.max(1, Actions.TILE / element.packedBytes(1));
    String label = first.toString();
    int loaded = load(label, count, Math.min(most, elements) * element.packedBytes(1), ready);
    for (long done = 0; done < elements; done += most) {
      long tile = Math.min(most, elements - done);
      double cycles = joinCycles(element, count * tile);
      int started =
          timeline.compute(device, label, TILE_MOVES * chip.moveCycles(), loaded, reached);
      reached = timeline.compute(device, label, cycles, started);
      compute += cycles;
      long next = Math.min(most, elements - done - tile);
      loaded = load(label, count, next * element.packedBytes(1), started);
      move(names.working, names.home, label, tile * element.packedBytes(1));
    }
  }

  /** Loads own elements and those of messages. */
  private int load(String label, int count, long bytes, int after) {
    long all = (1 + count) * bytes;
    traffic = traffic.plus(new Traffic(all, 0, 0, 0));
    return timeline.transfer(device, names.home, names.working, label, all, after);
  }

  private double joinCycles(ElementType element, long elements) {
    Optional<FunctionThroughput> measured = chip.function("join_" + element);
    if (measured.isPresent()) {
      return measured.get().cycles(1, 1, elements, 1, chip.cores());
    }
    return chip.throughput(KernelClass.ELEMENTWISE, element)
        .map(rate -> cycles(rate, elements))
        .orElse(0.0);
  }

  private static double cycles(KernelThroughput rate, long elements) {
    return elements / rate.rate() + rate.overheadCycles();
  }

  DevicePrediction prediction(Outcome outcome, EnergyModel energy) {
    List<StepPrediction> steps = new ArrayList<>();
    double before = 0;
    double all = 0;
    for (int i = 0; i < ends.size(); i++) {
      double end = outcome.end(ends.get(i)) * chip.hertz();
      steps.add(new StepPrediction(before, end - before, computed.get(i), moved.get(i)));
      before = end;
      all += computed.get(i);
    }
    return new DevicePrediction(device, before, all, energy, steps);
  }
}
