package io.partita.passes.schedule;

import io.partita.ir.schedule.Schedule;
import java.util.List;
import java.util.Optional;

/**
 * A schedule that is made for its cost, and not run.
 *
 * @param schedule the schedule; empty if a memory is too small
 * @param misfits the memories that are too small
 */
public record PricedSchedule(Optional<Schedule> schedule, List<Misfit> misfits) {
  public PricedSchedule {
    misfits = List.copyOf(misfits);
  }
}
