package io.partita.passes.program.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

/** Tests that the proof accepts exactly the schedules that an exhaustive search finds correct. */
class ScheduleProofTest {
  private final Set<CollectiveCode> seen = EnumSet.noneOf(CollectiveCode.class);
  private int accepted;
  private int rejected;

  @Test
  void proofsAgreeWithExhaustiveExecution() {
    for (long seed = 0; seed < 3000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int devices = random.nextInt(2, 5);
      Collective collective = RandomCollectives.draw(random, devices, ElementType.I8);
      int capacity = random.nextInt(3);
      Schedule schedule =
          Schedules.of(collective, RandomCollectives.algorithm(random, devices), capacity);
      for (int mutations = random.nextInt(3); mutations > 0; mutations--) {
        schedule = mutated(schedule, random);
      }
      // Sometimes fewer messages fit than the schedule was made for.
      requireSameJudgement(seed, schedule, random.nextInt(capacity + 1));
    }
    assertThat(seen).as("kinds of trouble that mutation makes").hasSize(5);
    assertThat(accepted).isGreaterThan(500);
    assertThat(rejected).isGreaterThan(500);
  }

  private void requireSameJudgement(long seed, Schedule schedule, int capacity) {
    CollectiveCode code = null;
    try {
      ScheduleProof.verify(schedule, capacity);
      accepted++;
    } catch (PartitaException e) {
      code = (CollectiveCode) e.diagnostics().getFirst().code();
      seen.add(code);
      rejected++;
    }
    if (code == CollectiveCode.STEP) {
      return; // nothing that could be run
    }
    assertThat(code == null)
        .as("seed %d, capacity %d: %s\n%s", seed, capacity, code, schedule)
        .isEqualTo(Simulation.isGood(schedule, capacity));
  }

  private static Schedule mutated(Schedule schedule, SplittableRandom random) {
    List<List<Step>> steps = new ArrayList<>();
    schedule.steps().forEach(list -> steps.add(new ArrayList<>(list)));
    List<Step> device = steps.get(random.nextInt(steps.size()));
    if (device.isEmpty()) {
      return schedule;
    }
    int at = random.nextInt(device.size());
    switch (random.nextInt(7)) {
      case 0 -> device.remove(at);
      case 1 -> device.add(random.nextInt(device.size() + 1), device.get(at));
      case 2 -> device.add(random.nextInt(device.size()), device.remove(at));
      case 3 -> {
        Step other = device.set(random.nextInt(device.size()), device.get(at));
        device.set(at, other);
      }
      case 4 -> device.set(at, redirected(device.get(at), random.nextInt(steps.size())));
      case 5 -> device.set(at, shortened(device.get(at)));
      default -> dropMessage(steps, device, at);
    }
    return new Schedule(schedule.collective(), steps);
  }

  /** Changes both ends, so that all messages still match. */
  private static void dropMessage(List<List<Step>> steps, List<Step> device, int at) {
    Step step = device.remove(at);
    int number = steps.indexOf(device);
    List<Step> peer = steps.get(step.peer());
    for (int i = 0; i < peer.size(); i++) {
      Step other = peer.get(i);
      if (other.getClass() != step.getClass()
          && other.peer() == number
          && other.slices().equals(step.slices())) {
        peer.remove(i);
        return;
      }
    }
  }

  private static Step redirected(Step step, int peer) {
    return switch (step) {
      case Send send -> new Send(peer, send.slices(), send.bytes());
      case Receive in -> new Receive(peer, in.slices(), in.bytes(), in.combine());
    };
  }

  private static Step shortened(Step step) {
    Slice first = step.slices().getFirst();
    List<Slice> slices = List.of(new Slice(first.start(), Math.max(1, first.size() - 1)));
    long bytes = slices.getFirst().size();
    return switch (step) {
      case Send send -> new Send(send.to(), slices, bytes);
      case Receive in -> new Receive(in.from(), slices, bytes, in.combine());
    };
  }

  @Property(seed = "2", tries = 160, shrinking = ShrinkingMode.OFF)
  @net.jqwik.api.Tag("thorough")
  void manySchedulesWorkWithoutBuffers(@ForAll long seed) {
    everyScheduleWorksWithoutBuffers(seed);
  }

  @Property(seed = "1", tries = 12, shrinking = ShrinkingMode.OFF)
  void everyScheduleWorksWithoutBuffers(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int devices = random.nextInt(1, 65);
    if (devices > 20) {
      devices = devices / 4 * 4;
    }
    Collective collective = RandomCollectives.draw(random, devices, ElementType.I8);
    Algorithm algorithm = RandomCollectives.algorithm(random, devices);
    ScheduleProof.verify(Schedules.of(collective, algorithm), 0);
    ScheduleProof.verify(Schedules.of(collective, algorithm), 1);
    ScheduleProof.verify(Schedules.of(collective, algorithm, 1), 1);
    ScheduleProof.verify(Schedules.of(collective, algorithm, 3), 3);
  }

  private static String message(List<List<Step>> steps, int capacity) {
    Collective collective =
        Collective.of(CollectiveKind.ALL_GATHER, steps.size(), steps.size(), ElementType.I8);
    PartitaException thrown =
        catchThrowableOfType(
            PartitaException.class,
            () -> ScheduleProof.verify(new Schedule(collective, steps), capacity));
    assertThat(thrown).isNotNull();
    return thrown.getMessage();
  }

  private static Step send(int to, int part) {
    return new Send(to, List.of(new Slice(part, 1)), 1);
  }

  private static Step receive(int from, int part) {
    return new Receive(from, List.of(new Slice(part, 1)), 1, Combine.REPLACE);
  }

  @Test
  void namesTheCycle() {
    List<List<Step>> steps =
        List.of(List.of(send(1, 0), receive(1, 1)), List.of(send(0, 1), receive(0, 0)));
    Collective collective = Collective.of(CollectiveKind.ALL_GATHER, 2, 2, ElementType.I8);
    ScheduleProof.verify(new Schedule(collective, steps), 1);
    assertThat(message(steps, 0))
        .isEqualTo(
            """
            error P4104: devices wait for each other in a cycle
              where:     all-gather of 2 i8 on 2 devices, channels of 0 messages
              expected:  steps that wait for earlier ones only
              found:     device 0 step 0 (send 1 B to 1) waits for device 1 step 0 (send 1 B to 0) waits for device 0 step 0
              fix:       receive before sending on one of these devices, or increase the capacity of channels""");
  }

  @Test
  void namesTheStep() {
    assertThat(message(List.of(List.of(send(1, 0)), List.of()), 1))
        .isEqualTo(
            """
            error P4102: a send or a receive has no counterpart
              where:     all-gather of 2 i8 on 2 devices, device 0, step 0 (send 1 B to 1)
              expected:  a receive for each send
              found:     0 receives for 1 sends
              fix:       add a receive, or remove the send""");
    assertThat(message(List.of(List.of(send(1, 0)), List.of(receive(0, 1))), 1))
        .isEqualTo(
            """
            error P4103: a receive doesn't match the message that arrives
              where:     all-gather of 2 i8 on 2 devices, device 1, step 0 (receive 1 B from 0)
              expected:  1 B for [[1, 2)]
              found:     1 B of [[0, 1)] by device 0, step 0
              fix:       receive in the order of the sends""");
    assertThat(message(List.of(List.of(send(2, 0)), List.of()), 1))
        .isEqualTo(
            """
            error P4101: a step of a communication schedule is invalid
              where:     all-gather of 2 i8 on 2 devices, device 0, step 0 (send 1 B to 2)
              expected:  another device
              found:     device 2
              fix:       correct it""");
    assertThat(message(List.of(List.of(send(1, 0)), List.of(receive(0, 0))), 1))
        .isEqualTo(
            """
            error P4105: a schedule doesn't compute the result of the collective
              where:     all-gather of 2 i8 on 2 devices, device 0
              expected:  elements [1, 2)
              found:     nothing
              fix:       add the missing messages""");
  }
}
