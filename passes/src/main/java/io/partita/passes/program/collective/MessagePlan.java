package io.partita.passes.program.collective;

import io.partita.ir.message.Step;
import io.partita.passes.program.collective.ScheduleProof.Position;
import java.util.List;

/** Steps of some devices that send to each other, and how a diagnostic speaks of them. */
interface MessagePlan {
  /** Of each device, in order. */
  List<List<Step>> steps();

  /** The number of the collective that a step belongs to. */
  int collective(Position position);

  /** The size of that collective's vector. */
  long elements(Position position);

  /** What all of it is. */
  String scope();

  /** The device and the step, such as {@code device 1, step 3}. */
  String name(Position position, String separator);

  default String where(Position position) {
    Step step = steps().get(position.device()).get(position.index());
    return name(position, ", ") + " (" + step + ")";
  }
}
