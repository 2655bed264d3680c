package io.partita.passes.schedule.predict;

import io.partita.ir.message.Action;
import io.partita.ir.message.Step;
import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.RunningTeam;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.Channel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.tile.LoopTime;
import io.partita.passes.schedule.tile.PreloadRoom;
import io.partita.passes.timing.Outcome;
import io.partita.passes.timing.RecordedTimeline;
import io.partita.passes.timing.SyncEvents;
import io.partita.passes.timing.TargetTimeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * One run of a schedule on its target: chips do their steps in order, and transfers between farther
 * memories and home go on meanwhile. So do sends: a message leaves as soon as there is room in its
 * channel, besides that of the receives that have been posted.
 */
final class ScheduleTimeline {
  private final TargetDescription target;
  private final TargetTimeline timeline;
  private final List<ChipRun> chips = new ArrayList<>();
  private final Map<Wire, Deque<Integer>> arrivals = new HashMap<>();
  private final Map<Wire, List<Integer>> posted = new HashMap<>();
  private final Map<Wire, Integer> sent = new HashMap<>();
  private final SyncEvents syncs = new SyncEvents();
  private final SortedMap<String, Long> linkBytes = new TreeMap<>();

  private record Wire(int from, int to) {}

  /**
   * @param verdict the outcome of comparisons, which decides what chips skip
   */
  ScheduleTimeline(Schedule schedule, TargetDescription target, Verdict verdict) {
    this.target = target;
    this.timeline = new TargetTimeline(target);
    Map<ChipKind, Map<TiledKernel, LoopTime>> times = new HashMap<>();
    for (ChipSchedule role : schedule.roles()) {
      RunningTeam running = RunningTeam.of(role);
      for (int device : role.devices()) {
        ChipKind chip = timeline.chip(device);
        Map<TiledKernel, LoopTime> own = times.computeIfAbsent(chip, key -> new HashMap<>());
        chips.add(
            new ChipRun(
                timeline,
                PreloadRoom.of(target, chip),
                role,
                running,
                device,
                own,
                syncs,
                verdict));
      }
    }
    chips.sort(Comparator.comparingInt(ChipRun::device));
  }

  /** Transfers that the run before has left under way, of each chip. */
  List<List<Double>> left() {
    List<List<Double>> cold = chips.stream().map(ChipRun::cold).toList();
    Outcome outcome = play(cold);
    return chips.stream().map(chip -> chip.left(outcome)).toList();
  }

  /**
   * @param left of the run before
   * @param recorder receives what each resource did
   */
  SchedulePrediction predict(
      List<List<Double>> left, Optional<Consumer<RecordedTimeline>> recorder) {
    Outcome outcome = play(left);
    recorder.ifPresent(each -> each.accept(timeline.recorded(outcome)));
    List<DevicePrediction> devices =
        chips.stream().map(chip -> chip.prediction(outcome, energy(chip))).toList();
    return new SchedulePrediction(
        outcome.seconds(),
        outcome.end(),
        new TreeMap<>(outcome.breakdown()),
        devices.stream().mapToDouble(DevicePrediction::joules).sum(),
        devices,
        syncs.times(outcome),
        linkBytes);
  }

  private Outcome play(List<List<Double>> left) {
    for (int i = 0; i < chips.size(); i++) {
      chips.get(i).begin(left.get(i));
    }
    boolean moves = true;
    boolean waits = true;
    while (moves) {
      moves = false;
      waits = false;
      for (ChipRun chip : chips) {
        moves |= advance(chip);
        waits |= chip.toAction() != null;
      }
    }
    if (waits) {
      throw new IllegalStateException("devices wait for each other for ever");
    }
    int last = timeline.join(chips.stream().mapToInt(ChipRun::reached).toArray());
    return timeline.play(last);
  }

  private EnergyModel energy(ChipRun run) {
    ChipKind chip = timeline.chip(run.device());
    return EnergyModel.of(target, chip, MemoryNames.of(chip));
  }

  /** Whether the chip did something for a message. */
  private boolean advance(ChipRun chip) {
    boolean moves = false;
    for (Action action = chip.toAction(); action != null; action = chip.toAction()) {
      boolean done =
          switch (action) {
            case Action.Send send -> send(chip, send.message());
            case Action.Post post -> post(chip, post.message());
            case Action.Load load -> {
              chip.exchange().loads();
              yield true;
            }
            case Action.Finish finish -> finish(chip, finish);
          };
      if (!done) {
        return moves;
      }
      moves = true;
    }
    return moves;
  }

  private boolean send(ChipRun chip, Step.Send send) {
    Wire wire = new Wire(chip.device(), send.to());
    int number = sent.getOrDefault(wire, 0);
    int capacity = Math.max(1, timeline.buffer());
    int room = timeline.join();
    if (number >= capacity) {
      List<Integer> before = posted.getOrDefault(wire, List.of());
      if (before.size() <= number - capacity) {
        return false;
      }
      room = before.get(number - capacity);
    }
    sent.put(wire, number + 1);
    chip.exchange().start();
    TargetTimeline.Sent message =
        timeline.send(
            chip.device(),
            send.to(),
            "device " + chip.device() + " " + send,
            send.bytes(),
            chip.reached(),
            room);
    arrivals.computeIfAbsent(wire, key -> new ArrayDeque<>()).add(message.arrived());
    for (Channel channel : timeline.route(chip.device(), send.to())) {
      linkBytes.merge(channel.name(), send.bytes(), Long::sum);
    }
    syncs.message(chip.exchange().sync(), send.bytes());
    chip.exchange().sent(send.bytes(), message.passed());
    return true;
  }

  private boolean post(ChipRun chip, Step.Receive receive) {
    chip.exchange().start();
    Wire wire = new Wire(receive.from(), chip.device());
    posted.computeIfAbsent(wire, key -> new ArrayList<>()).add(chip.reached());
    chip.exchange().posted();
    return true;
  }

  private boolean finish(ChipRun chip, Action.Finish finish) {
    List<Deque<Integer>> waiting = new ArrayList<>();
    for (Step.Receive receive : finish.messages()) {
      Deque<Integer> messages = arrivals.get(new Wire(receive.from(), chip.device()));
      if (messages == null || messages.isEmpty()) {
        return false;
      }
      waiting.add(messages);
    }
    chip.exchange()
        .finish(finish, timeline.join(waiting.stream().mapToInt(each -> each.remove()).toArray()));
    return true;
  }
}
