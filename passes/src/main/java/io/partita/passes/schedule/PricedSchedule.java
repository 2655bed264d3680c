package io.partita.passes.schedule;

import io.partita.ir.schedule.Schedule;
import java.util.List;
import java.util.Optional;

/**
 * A schedule that was made for its cost, not to be run.
 *
 * @param schedule none where a memory is too small
 * @param misfits the memories that are too small
 */
public record PricedSchedule(Optional<Schedule> schedule, List<Misfit> misfits) {
  public PricedSchedule {
    misfits = List.copyOf(misfits);
  }
}
