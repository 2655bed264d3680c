package io.partita.passes.cost;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.program.Combine;
import io.partita.ir.program.Step;
import io.partita.ir.program.Step.Receive;
import io.partita.ir.program.Step.Send;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.collective.Collective;
import io.partita.passes.collective.Schedule;
import io.partita.passes.collective.ScheduleProof;
import io.partita.passes.collective.ScheduleProof.Position;
import io.partita.passes.collective.Schedules;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Puts collectives on timelines.
 *
 * <p>A device takes its steps in order. It goes on as soon as a message that it sends has found
 * room in its channel, since links work by themselves; without a buffer it waits until the receiver
 * has come to its receive, and for the arrival. A received part that is reduced moves with the
 * device's own from the resident memory to the cores and back.
 */
public final class CollectiveCosts {
  private final TargetTimeline timeline;
  private final Schedule schedule;
  private final int capacity;

  /** The event at whose end a device has done what was before. */
  private final int[] reached;

  /** By channel, arrivals that wait for their receive, and the ends of the last receives. */
  private final Map<List<Integer>, Deque<Integer>> arrivals = new HashMap<>();

  private final Map<List<Integer>, List<Integer>> received = new HashMap<>();
  private final Map<List<Integer>, Integer> sent = new HashMap<>();

  private CollectiveCosts(TargetTimeline timeline, Schedule schedule, int[] after) {
    this.timeline = timeline;
    this.schedule = schedule;
    this.capacity = timeline.buffer();
    this.reached = after.clone();
  }

  /** What a collective costs by one algorithm. */
  public record Candidate(Algorithm algorithm, double seconds, double joules, long linkBytes) {}

  /**
   * Adds a schedule, made for as many messages as the target's channels hold.
   *
   * @param after for each device, the event at whose end it begins
   * @return for each device, the event at whose end it's done
   */
  public static int[] add(TargetTimeline timeline, Schedule schedule, int[] after) {
    CollectiveCosts costs = new CollectiveCosts(timeline, schedule, after);
    for (Position position : ScheduleProof.verify(schedule, timeline.buffer())) {
      switch (schedule.steps().get(position.device()).get(position.index())) {
        case Send send -> costs.send(position.device(), send);
        case Receive receive -> costs.receive(position.device(), receive);
      }
    }
    return costs.reached;
  }

  private String label(Step step, int device) {
    return schedule.collective().kind().text() + ", device " + device + " " + step;
  }

  private void send(int device, Send send) {
    List<Integer> wire = List.of(device, send.to());
    int number = sent.merge(wire, 1, Integer::sum) - 1;
    int room = reached[device];
    if (capacity == 0) {
      room = reached[send.to()];
    } else if (number >= capacity) {
      room = received.get(wire).get(number - capacity);
    }
    reached[device] = timeline.join(reached[device], room);
    int arrived =
        timeline.send(device, send.to(), label(send, device), send.bytes(), reached[device]);
    if (capacity == 0) {
      reached[device] = arrived;
    }
    arrivals.computeIfAbsent(wire, key -> new ArrayDeque<>()).add(arrived);
  }

  private void receive(int device, Receive receive) {
    List<Integer> wire = List.of(receive.from(), device);
    int arrived = arrivals.get(wire).remove();
    int end = timeline.join(reached[device], arrived);
    if (receive.combine() != Combine.REPLACE) {
      end = reduce(device, receive, end);
    }
    reached[device] = end;
    received.computeIfAbsent(wire, key -> new ArrayList<>()).add(end);
  }

  private int reduce(int device, Receive receive, int after) {
    ChipKind chip = timeline.chip(device);
    String working = chip.working().name();
    String resident = chip.resident().name();
    String label = label(receive, device);
    long elements = receive.slices().stream().mapToLong(slice -> slice.size()).sum();
    KernelWork work =
        KernelWork.elements(KernelClass.ELEMENTWISE, schedule.collective().element(), elements, 1);
    int loaded = timeline.transfer(device, resident, working, label, 2 * receive.bytes(), after);
    int reduced = timeline.compute(device, label, work.warmCycles(chip), loaded);
    return timeline.transfer(device, working, resident, label, receive.bytes(), reduced);
  }

  /** What a collective costs alone on a target by each algorithm, the fastest first. */
  public static List<Candidate> candidates(TargetDescription target, Collective collective) {
    List<Algorithm> algorithms = new ArrayList<>();
    int devices = collective.devices();
    for (int group = 2; group <= Math.clamp(devices, 2, 8); group++) {
      algorithms.add(new Algorithm.Tree(group));
    }
    if (devices > 8) {
      algorithms.add(new Algorithm.Tree(devices));
    }
    algorithms.add(new Algorithm.Ring());
    algorithms.add(new Algorithm.Direct());
    return algorithms.stream()
        .map(algorithm -> candidate(target, collective, algorithm))
        .sorted(Comparator.comparingDouble(Candidate::seconds))
        .toList();
  }

  public static Candidate candidate(
      TargetDescription target, Collective collective, Algorithm algorithm) {
    TargetTimeline timeline = new TargetTimeline(target);
    int[] begin = new int[collective.devices()];
    Arrays.setAll(begin, device -> timeline.join());
    add(timeline, Schedules.of(collective, algorithm, timeline.buffer()), begin);
    Outcome outcome = timeline.play();
    return new Candidate(
        algorithm, outcome.seconds(), outcome.joules(), outcome.bytes(Resource.Kind.LINKS));
  }

  /** The fastest algorithm; of equally fast ones, trees of small groups come first. */
  public static Algorithm choose(TargetDescription target, Collective collective) {
    return candidates(target, collective).getFirst().algorithm();
  }
}
