package io.partita.passes.schedule.predict;

import io.partita.ir.message.Action;
import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.RunningTeam;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.passes.schedule.predict.EarlyTransfers.Early;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.timing.Outcome;
import io.partita.passes.timing.SyncEvents;
import io.partita.passes.timing.TargetTimeline;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The state of a chip while its schedule is played on a timeline. */
final class ChipRun {
  private static final int NEVER = -1;

  private final TargetTimeline timeline;
  private final Optional<PreloadRoom> preloadRoom;
  private final MemoryNames names;
  private final ChipSchedule role;
  private final RunningTeam running;
  private final ChipKind chip;
  private final int device;
  private final Map<TiledKernel, LoopTime> times;
  private final SyncEvents syncs;
  private final Verdict verdict;
  private final ChipProgress progress;
  private final PreloadQueue preloads;
  private final EarlyTransfers early;
  private final InstructionCache instructions;
  private final Map<Integer, Integer> transfers = new HashMap<>();
  private final Map<Integer, Integer> rows = new HashMap<>();

  /** The exchange that has begun; null if there is none. */
  private ExchangeRun exchange;

  /** The step after the guarded region that the chip skips, if it is in one. */
  private int skippedTo;

  /** The end of the kernel that a loop has left running; {@link #NEVER} if there is none. */
  private int team = NEVER;

  ChipRun(
      TargetTimeline timeline,
      Optional<PreloadRoom> preloadRoom,
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
    this.role = role;
    this.running = running;
    this.chip = timeline.chip(device);
    this.names = MemoryNames.of(chip);
    this.device = device;
    this.times = times;
    this.progress = new ChipProgress(timeline, device);
    this.preloads = new PreloadQueue(progress);
    this.early = EarlyTransfers.of(role, chip, names);
    this.instructions = new InstructionCache(chip.warmFunctions());
  }

  /**
   * Adds the transfers that are in flight when the run begins.
   *
   * @param left the remaining seconds of each, in the order of their start
   */
  void begin(List<Double> left) {
    List<Double> occupied = early.occupied(left);
    for (int i = 0; i < occupied.size(); i++) {
      Early each = early.list().get(i);
      int end =
          timeline.occupy(
              device,
              each.channel().name(),
              each.start().origin().name(),
              occupied.get(i),
              each.bytes(),
              progress.reached());
      switch (each.start()) {
        case ScheduleStep.StartTransfer start -> transfers.put(start.transfer(), end);
        case ScheduleStep.Preload preload -> preloads.arrives(preload, end);
        default -> throw new AssertionError(each);
      }
    }
  }

  /** Returns the argument of {@link #begin} for a first run, with which all transfers begin. */
  List<Double> cold() {
    return early.cold(chip.hertz());
  }

  /**
   * Returns the argument of {@link #begin} for the next run, which begins when this one has ended
   * on all chips.
   */
  List<Double> left(Outcome outcome) {
    return early.list().stream()
        .map(
            each ->
                each.start() instanceof ScheduleStep.Preload preload
                    ? preloads.arrival(preload.preload())
                    : transfers.get(((ScheduleStep.StartTransfer) each.start()).transfer()))
        .map(end -> outcome.end(end) - outcome.seconds())
        .toList();
  }

  int device() {
    return device;
  }

  int reached() {
    return progress.reached();
  }

  /** Returns the exchange of the action that {@link #toAction} returned. */
  ExchangeRun exchange() {
    return exchange;
  }

  DevicePrediction prediction(Outcome outcome, EnergyModel energy) {
    return progress.prediction(outcome, energy);
  }

  /** Runs steps up to the next action of an exchange and returns it; null at the end. */
  Action toAction() {
    while (progress.steps() < role.steps().size()) {
      ScheduleStep step = role.steps().get(progress.steps());
      if (running.isAwaitedBefore(progress.steps()) && team != NEVER) {
        progress.await(team);
        team = NEVER;
      }
      if (progress.steps() < skippedTo && step.isSkippable()) {
        end();
        continue;
      }
      if (step instanceof ScheduleStep.BeginExchange begin) {
        if (exchange == null) {
          begin(begin.next(role.steps(), progress.steps()).orElseThrow(), true);
        }
        Optional<Action> next = exchange.beginning();
        if (next.isPresent()) {
          return next.get();
        }
      } else if (step instanceof ScheduleStep.Exchange now) {
        if (exchange == null) {
          begin(now, false);
        }
        Optional<Action> next = exchange.action();
        if (next.isPresent()) {
          return next.get();
        }
        exchange.end();
        exchange = null;
      } else {
        run(step);
      }
      end();
    }
    return null;
  }

  private void begin(ScheduleStep.Exchange begun, boolean isContinued) {
    exchange =
        new ExchangeRun(
            progress,
            preloads,
            preloadRoom,
            syncs,
            begun,
            begun.exchanges().get(role.devices().indexOf(device)),
            isContinued);
    exchange.begin();
  }

  private void end() {
    int reached = progress.reached();
    progress.end(team == NEVER ? reached : timeline.join(reached, team));
  }

  private void run(ScheduleStep step) {
    switch (step) {
      case ScheduleStep.RunTiles loop -> run(loop);
      case ScheduleStep.StartTransfer start -> start(start);
      case ScheduleStep.WaitTransfer wait -> progress.await(transfers.remove(wait.transfer()));
      case ScheduleStep.Preload preload -> {
        control(preload.origin().name(), chip.moveCycles());
        preloads.ask(preload);
        if (!role.isStartedByNext(progress.steps())) {
          preloads.start(team != NEVER);
        }
      }
      case ScheduleStep.AwaitPreload await ->
          await(await.origin().name(), preloads.awaited(await.preload()));
      case ScheduleStep.FetchRows fetch -> start(fetch);
      case ScheduleStep.AwaitRows await ->
          await(await.origin().name(), rows.remove(await.number()));
      case ScheduleStep.Clear clear ->
          progress.move(names.working(), names.home(), clear.origin().name(), clear.bytes());
      case ScheduleStep.Guard guard -> {
        progress.compute(guard.origin().name(), chip.operandCycles());
        skippedTo = guard.runs(device, verdict) ? 0 : progress.steps() + 1 + guard.steps();
      }
      case ScheduleStep.BeginExchange begin -> throw new AssertionError(begin);
      case ScheduleStep.Exchange now -> throw new AssertionError(now);
    }
  }

  private void run(ScheduleStep.RunTiles loop) {
    TiledKernel kernel = role.kernels().get(loop.kernel());
    LoopTime time = times.computeIfAbsent(kernel, each -> LoopTime.of(each, chip));
    boolean isWarm = instructions.use(LoopTime.functions(kernel, chip));
    double cold = isWarm ? 0 : time.coldCycles();
    String name = loop.origin().name();
    boolean isLeft = running.isLeft(progress.steps());
    if (team == NEVER && !isLeft) {
      preloads.start(true);
      progress.compute(name, time.cycles() + cold);
    } else {
      boolean isOneTile = kernel.tiles() == 1;
      double stores =
          isOneTile && time.storedBytes() > 0 ? chip.operandCycles() + time.storeCycles() : 0;
      double cycles = time.computeCycles() + cold;
      double before = time.cycles() - time.computeCycles() - stores - chip.loopCycles();
      // Only the loads of a first tile come before the kernel.
      start(name, isOneTile ? before : 0, isOneTile ? cycles : cycles + before);
      if (!isLeft) {
        progress.reach(timeline.compute(device, name, stores, team));
        team = NEVER;
      }
    }
    progress.count(time.computeCycles());
    progress.count(new Traffic(time.loadedBytes() + time.storedBytes(), 0, 0, 0));
  }

  /**
   * Starts a kernel; what prepares it is done while the one before runs.
   *
   * @param before the cycles that prepare it
   * @param cycles of the kernel
   */
  private void start(String name, double before, double cycles) {
    control(name, Math.max(0, before));
    if (team != NEVER) {
      progress.await(team);
    }
    progress.compute(name, chip.loopCycles());
    preloads.start(true);
    team = timeline.compute(device, name, cycles, progress.reached());
  }

  /** Waits for a transfer, which the control core does. */
  private void await(String label, int event) {
    control(label, chip.moveCycles(), progress.reached(), event);
  }

  private void control(String label, double cycles) {
    control(label, cycles, progress.reached());
  }

  /** Adds work of the control core, which doesn't wait for a kernel that was left running. */
  private void control(String label, double cycles, int... after) {
    progress.reach(
        team == NEVER
            ? timeline.compute(device, label, cycles, after)
            : timeline.control(device, label, cycles, after));
  }

  private void start(ScheduleStep.StartTransfer start) {
    String from = start.fetch() ? names.far() : names.home();
    String to = start.fetch() ? names.home() : names.far();
    double issue = chip.channel(from, to).map(DmaChannel::issueCycles).orElse(0.0);
    long parts = start.lines().map(StateLines::parts).orElse(1L);
    progress.compute(start.origin().name(), parts * issue);
    int end = progress.reached();
    for (long i = 0; i < parts; i++) {
      end = timeline.transfer(device, from, to, start.origin().name(), start.bytes() / parts, end);
    }
    transfers.put(start.transfer(), end);
    progress.count(new Traffic(0, start.bytes(), 0, 0));
  }

  /** The rows follow each other. */
  private void start(ScheduleStep.FetchRows fetch) {
    control(fetch.origin().name(), chip.operandCycles());
    int end = progress.reached();
    for (long row = 0; row < fetch.count(); row++) {
      end =
          timeline.transfer(
              device, names.far(), names.home(), fetch.origin().name(), fetch.rowBytes(), end);
    }
    rows.put(fetch.number(), end);
    progress.count(new Traffic(0, fetch.bytes(), 0, 0));
  }
}
