package io.partita.passes.program.collective;

import io.partita.ir.message.Step;
import io.partita.passes.program.collective.ScheduleProof.Position;
import java.util.List;

/** The steps of devices that exchange messages, and their descriptions in diagnostics. */
interface MessagePlan {
  /** The steps of each device, in order. */
  List<List<Step>> steps();

  /** Returns the number of the collective of a step. */
  int collective(Position position);

  /** Returns the size of the vector of this collective. */
  long elements(Position position);

  /** Describes the whole plan. */
  String scope();

  /** Describes a step, such as {@code device 1, step 3}. */
  String name(Position position, String separator);

  default String where(Position position) {
    Step step = steps().get(position.device()).get(position.index());
    return name(position, ", ") + " (" + step + ")";
  }
}
