package io.partita.passes.program.localize;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Step;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.Schedule;
import io.partita.passes.program.collective.ScheduleProof;
import io.partita.passes.program.collective.Schedules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes and proves schedules; equal ones are made once. */
final class ProvedSchedules {
  private final int capacity;
  private final Map<Made, Schedule> schedules = new HashMap<>();
  private final Map<Placed, List<List<Step>>> placed = new HashMap<>();

  private record Made(Collective collective, Algorithm algorithm) {}

  private record Placed(Made made, List<Integer> group) {}

  ProvedSchedules(int capacity) {
    this.capacity = capacity;
  }

  /**
   * Returns the steps of each device of a group, with the numbers of devices in the mesh.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with a {@link
   *     io.partita.passes.program.collective.CollectiveCode} if the schedule can't be proved
   */
  List<List<Step>> steps(Collective collective, Algorithm algorithm, List<Integer> group) {
    Made made = new Made(collective, algorithm);
    return placed.computeIfAbsent(new Placed(made, group), key -> place(schedule(made), group));
  }

  private Schedule schedule(Made made) {
    return schedules.computeIfAbsent(
        made,
        key -> {
          Schedule schedule = Schedules.of(made.collective(), made.algorithm(), capacity);
          ScheduleProof.verify(schedule, capacity);
          return schedule;
        });
  }

  private static List<List<Step>> place(Schedule schedule, List<Integer> group) {
    List<List<Step>> placed = new ArrayList<>();
    for (List<Step> steps : schedule.steps()) {
      placed.add(steps.stream().map(step -> place(step, group)).toList());
    }
    return placed;
  }

  private static Step place(Step step, List<Integer> group) {
    int peer = group.get(step.peer());
    return switch (step) {
      case Step.Send send -> new Step.Send(peer, send.slices(), send.bytes());
      case Step.Receive in -> new Step.Receive(peer, in.slices(), in.bytes(), in.combine());
    };
  }
}
