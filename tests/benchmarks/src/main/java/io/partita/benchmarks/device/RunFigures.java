package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.MeasuredChip;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.measure.StepLabel;
import io.partita.benchmarks.paper.Run;
import io.partita.passes.schedule.predict.EnergyModel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Sums the counters of the steps of a run. */
final class RunFigures {
  private static final Set<StepLabel.Kind> EXCHANGES =
      EnumSet.of(StepLabel.Kind.BEGIN, StepLabel.Kind.EXCHANGE);

  private RunFigures() {}

  /**
   * @param measured the steps of each chip
   */
  static Run of(PredictedRun predicted, List<List<StepFigures>> measured) {
    int slowest = 0;
    long most = 0;
    Run.Moved moved = new Run.Moved(0, 0, 0, 0, 0);
    Run.Energy energy = new Run.Energy(0, 0, 0, 0);
    for (int chip = 0; chip < measured.size(); chip++) {
      List<StepFigures> steps = measured.get(chip);
      if (StepFigures.cycles(steps) > most) {
        most = StepFigures.cycles(steps);
        slowest = chip;
      }
      Traffic own = StepFigures.moved(steps);
      moved = plus(moved, own, loads(predicted.chips().get(chip), steps));
      energy = plus(energy, predicted.chips().get(chip).energy(), steps, own);
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
        breakdown(predicted.chips().get(slowest), measured.get(slowest)),
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
  private static long loads(PredictedRun.Chip chip, List<StepFigures> steps) {
    long bytes = 0;
    for (int i = 0; i < steps.size(); i++) {
      if (chip.steps().get(i).kind() == StepLabel.Kind.FETCH) {
        bytes += steps.get(i).moved().farHome();
      }
    }
    return bytes;
  }

  private static Run.Energy plus(
      Run.Energy energy, EnergyModel model, List<StepFigures> steps, Traffic own) {
    return new Run.Energy(
        energy.compute() + model.computeJoules(StepFigures.computeCycles(steps)),
        energy.l2() + own.homeWorking() * model.homeWorking(),
        energy.l3() + own.farHome() * model.farHome(),
        energy.link() + model.linkJoules(own));
  }

  /**
   * What an exchange computes counts as computing, and the rest of it as the link's; what a loop
   * doesn't compute is between L2 and L1.
   */
  private static Run.Breakdown breakdown(PredictedRun.Chip chip, List<StepFigures> steps) {
    long compute = StepFigures.computeCycles(steps);
    long l3 = MeasuredChip.waitCycles(chip, steps);
    long link = 0;
    for (int i = 0; i < steps.size(); i++) {
      if (EXCHANGES.contains(chip.steps().get(i).kind())) {
        link += steps.get(i).cycles() - steps.get(i).computeCycles();
      }
    }
    return new Run.Breakdown(compute, StepFigures.cycles(steps) - compute - l3 - link, l3, link);
  }
}
