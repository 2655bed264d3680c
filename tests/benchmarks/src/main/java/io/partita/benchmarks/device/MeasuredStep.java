package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.StepFigures;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import io.partita.passes.schedule.tile.CallUnit;
import java.util.List;
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

  /** Whether it is a loop in which cores compute. */
  boolean isComputed() {
    return loop.isPresent() && measured.computeCycles() > 0;
  }

  /** Returns what the cores are started for in each tile. */
  List<CallUnit> units(ChipKind chip) {
    return CallUnit.of(loop.orElseThrow().calls(), chip);
  }
}
