package io.partita.backend.emitted;

import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.timing.RecordedTimeline;
import java.util.Optional;

/**
 * The schedule of an emitted program, with its predicted run.
 *
 * @param target the target that it was made for
 * @param hits the run in which every speculation hits, while in the others every one misses; empty
 *     if chips don't speculate
 * @param timeline what each resource does during the predicted run
 */
public record EmittedSchedule(
    Schedule schedule,
    TargetDescription target,
    SchedulePrediction prediction,
    Optional<SchedulePrediction> hits,
    RecordedTimeline timeline) {
  /** Predicts a run of a schedule. */
  public static EmittedSchedule of(Schedule schedule, TargetDescription target) {
    RecordedTimeline[] timeline = new RecordedTimeline[1];
    SchedulePrediction prediction =
        SchedulePrediction.of(schedule, target, recorded -> timeline[0] = recorded);
    return new EmittedSchedule(
        schedule, target, prediction, SchedulePrediction.ofHits(schedule, target), timeline[0]);
  }
}
