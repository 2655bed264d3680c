package io.partita.benchmarks.device;

import io.partita.ir.target.ChipKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Figures of a chip for the time between kernels, from measured loops: the cycles of transfers are
 * subtracted from those in which cores didn't compute, and least squares of relative errors
 * distribute the rest.
 */
final class LoopCalibration {
  /** The duration of a load that completes while the control core starts the next one. */
  private static final double SHORT = 300;

  private LoopCalibration() {}

  static List<String> lines(ChipKind chip, List<MeasuredStep> steps) {
    List<double[]> rows = new ArrayList<>();
    List<Double> measured = new ArrayList<>();
    for (MeasuredStep step : steps) {
      if (!step.isComputed() || step.loop().get().tiles() > 1) {
        continue;
      }
      LoopFeatures loop = LoopFeatures.of(step.loop().get(), chip);
      if (loop.longestLoad() <= SHORT) {
        rows.add(new double[] {1, loop.operands(), step.units(chip).size() - 1, loop.boxes()});
        measured.add(between(step) - loop.lastLoad() - loop.stores());
      }
    }
    double[] first = LeastSquares.solve(rows, measured);
    List<String> lines = new ArrayList<>();
    lines.addAll(lines(List.of("loop", "operand", "call", "box"), first, rows, measured));
    rows.clear();
    measured.clear();
    for (MeasuredStep step : steps) {
      if (!step.isComputed() || step.loop().get().tiles() == 1) {
        continue;
      }
      LoopFeatures loop = LoopFeatures.of(step.loop().get(), chip);
      boolean isHidden = 2 * loop.steadyCycles() < step.measured().computeCycles();
      if (loop.isDouble() && isHidden && loop.tiles() > 4) {
        int calls = step.units(chip).size();
        double runs =
            step.units(chip).stream()
                .mapToDouble(
                    call -> CallFeatures.of(call, step.loop().get(), chip.cores(), 0).runs())
                .sum();
        double once =
            first[0]
                + first[1] * loop.operands()
                + first[2] * (calls - 1)
                + first[3] * loop.boxes()
                + Math.max(loop.lastLoad(), loop.longestLoad())
                + loop.stores();
        if (between(step) > 1.2 * once) {
          rows.add(new double[] {runs - calls, loop.moves()});
          measured.add(between(step) - once);
        }
      }
    }
    lines.addAll(
        lines(List.of("tile", "move"), LeastSquares.solve(rows, measured), rows, measured));
    return lines;
  }

  private static double between(MeasuredStep step) {
    return (double) step.measured().cycles() - step.measured().computeCycles();
  }

  private static List<String> lines(
      List<String> names, double[] figures, List<double[]> rows, List<Double> measured) {
    List<Double> errors = new ArrayList<>();
    for (int row = 0; row < rows.size(); row++) {
      double sum = 0;
      for (int i = 0; i < figures.length; i++) {
        sum += rows.get(row)[i] * figures[i];
      }
      errors.add(Math.abs(sum / measured.get(row) - 1));
    }
    errors.sort(null);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < figures.length; i++) {
      lines.add(
          String.format(
              Locale.ROOT,
              "    %s = %d cycles from portable \"%d loops, %.0f %% off in the median\"",
              names.get(i),
              Math.round(figures[i]),
              errors.size(),
              100 * errors.get(errors.size() / 2)));
    }
    return lines;
  }
}
