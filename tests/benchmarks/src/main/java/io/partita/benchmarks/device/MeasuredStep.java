package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.StepFigures;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import java.util.Optional;

/**
 * A step of a chip, measured and predicted.
 *
 * @param loop the loop, if it is one
 */
record MeasuredStep(
    String name, Optional<TiledKernel> loop, StepFigures measured, StepPrediction predicted) {
  static MeasuredStep of(
      ChipSchedule role, int number, StepFigures measured, StepPrediction predicted) {
    ScheduleStep step = role.steps().get(number);
    Optional<TiledKernel> loop =
        step instanceof ScheduleStep.RunTiles run
            ? Optional.of(role.kernels().get(run.kernel()))
            : Optional.empty();
    return new MeasuredStep(step.origin().name(), loop, measured, predicted);
  }

  /** Whether it is a loop without runs of elements, so that figures of kernels follow from it. */
  boolean hasOnlyKernels() {
    return loop.isPresent() && ElementRun.of(loop.get().calls()).isEmpty();
  }
}
