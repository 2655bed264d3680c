package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.RunProfile;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.measure.StepLabel;
import io.partita.benchmarks.paper.Run;
import io.partita.passes.schedule.predict.EnergyModel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.util.List;

/** Sums the counters of the chips of a run. */
final class RunFigures {
  private RunFigures() {}

  /**
   * @param measured the run of each chip
   */
  static Run of(PredictedRun predicted, List<RunProfile> measured) {
    int slowest = 0;
    long most = 0;
    Run.Moved moved = new Run.Moved(0, 0, 0, 0, 0);
    Run.Energy energy = new Run.Energy(0, 0, 0, 0);
    for (int chip = 0; chip < measured.size(); chip++) {
      RunProfile own = measured.get(chip);
      if (own.cycles() > most) {
        most = own.cycles();
        slowest = chip;
      }
      moved = plus(moved, own.moved(), loads(predicted.chips().get(chip)));
      energy = plus(energy, predicted.chips().get(chip).energy(), own);
    }
    return new Run(
        measured.size(),
        predicted.chips().stream()
            .mapToLong(chip -> StepFigures.cycles(chip.figures()))
            .max()
            .orElse(0),
        predicted.chips().stream()
            .mapToLong(chip -> StepFigures.computeCycles(chip.figures()))
            .max()
            .orElse(0),
        breakdown(measured.get(slowest)),
        moved,
        energy);
  }

  private static Run.Moved plus(Run.Moved moved, Traffic own, long loads) {
    return new Run.Moved(
        moved.l2() + own.homeWorking(),
        moved.l3() + own.farHome(),
        Math.max(moved.l3Most(), own.farHome()),
        moved.loads() + loads,
        moved.link() + own.sent());
  }

  /** The bytes of transfers that begin ahead of what needs them. */
  private static long loads(PredictedRun.Chip chip) {
    return chip.steps().stream()
        .filter(step -> step.kind() == StepLabel.Kind.FETCH)
        .mapToLong(StepLabel::bytes)
        .sum();
  }

  private static Run.Energy plus(Run.Energy energy, EnergyModel model, RunProfile own) {
    Traffic moved = own.moved();
    return new Run.Energy(
        energy.compute() + model.computeJoules(own.computeCycles()),
        energy.l2() + moved.homeWorking() * model.homeWorking(),
        energy.l3() + moved.farHome() * model.farHome(),
        energy.link() + model.linkJoules(moved));
  }

  /**
   * What an exchange computes counts as computing, and the rest of it as the link's; what a loop
   * doesn't compute is between L2 and L1.
   */
  private static Run.Breakdown breakdown(RunProfile run) {
    return new Run.Breakdown(
        run.computeCycles(), run.otherCycles(), run.l3Cycles(), run.linkCycles());
  }
}
