package io.partita.benchmarks.device;

import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.FunctionThroughput;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import io.partita.passes.schedule.tile.CallUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Figures of a target's kernels from measured loops, as lines of its description. The computing
 * cycles of a loop are the sum of {@code overhead}, {@code cold}, {@code block}, {@code result} and
 * work at the rate of each kernel call; least squares of relative errors determine the figures of
 * all functions together. A function with few sizes has fewer figures, unless the target has more:
 * those that loops can't tell apart stay near the target's.
 */
final class Calibration {
  /** The figures of a function: overhead, cold, block, result, work. */
  private static final int FIGURES = 5;

  private static final int SPLITS = 20;

  /** The number of sizes that distinguish the time per block from the time per result. */
  private static final int SEVERAL = 3;

  private final ChipKind chip;
  private final List<MeasuredStep> steps;
  private final Map<String, CallUnit> calls = new TreeMap<>();
  private final Map<String, Double> splits = new TreeMap<>();
  private final Map<String, Set<String>> sizes = new TreeMap<>();

  /** Functions with several blocks per core in some loop. */
  private final Set<String> blocked = new TreeSet<>();

  Calibration(ChipKind chip, List<MeasuredStep> measured) {
    this.chip = chip;
    steps = measured.stream().filter(MeasuredStep::isComputed).toList();
    for (MeasuredStep step : steps) {
      for (CallUnit call : step.units(chip)) {
        String name = features(call, step.loop().orElseThrow()).function();
        calls.put(name, call);
        sizes.computeIfAbsent(name, key -> new TreeSet<>()).add(step.name());
        splits.putIfAbsent(name, 0.0);
        CallFeatures features = features(call, step.loop().orElseThrow());
        if (features.blocks() != features.runs()) {
          blocked.add(name);
        }
      }
    }
  }

  private CallFeatures features(CallUnit call, TiledKernel loop) {
    String name = CallFeatures.of(call, loop, 1, 0).function();
    return CallFeatures.of(call, loop, chip.cores(), splits.getOrDefault(name, 0.0));
  }

  /** Returns lines for the target description. */
  List<String> lines() {
    for (Map.Entry<String, CallUnit> function : calls.entrySet()) {
      Kernel kernel = function.getValue().kernel();
      if (function.getValue().run().isEmpty()
          && kernel.kernelClass() == KernelClass.NORM
          && kernel.struct().sharing().isByLines()) {
        split(function.getKey());
      }
    }
    Fit all = new Fit(List.copyOf(calls.keySet()), steps);
    List<String> lines = new ArrayList<>();
    for (String function : calls.keySet()) {
      lines.addAll(all.lines(function));
    }
    return lines;
  }

  /** Returns the target's figures of a function in the order of this fit; NaN if it has none. */
  private double[] known(String function) {
    double[] figures = new double[FIGURES];
    Arrays.fill(figures, Double.NaN);
    chip.function(function)
        .ifPresent(
            known -> {
              figures[0] = known.overheadCycles();
              figures[1] = known.coldCycles();
              figures[2] = known.blockCycles();
              figures[3] = known.resultCycles();
              figures[4] = chip.cores() / known.rate();
            });
    return figures;
  }

  /** Searches the fraction of a line that cores share if there are few lines. */
  private void split(String function) {
    List<MeasuredStep> own =
        steps.stream()
            .filter(
                step ->
                    step.units(chip).stream()
                        .allMatch(
                            call ->
                                features(call, step.loop().orElseThrow())
                                    .function()
                                    .equals(function)))
            .toList();
    double best = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i <= SPLITS; i++) {
      splits.put(function, (double) i / SPLITS);
      double error = new Fit(List.of(function), own).squares();
      if (error < least) {
        least = error;
        best = (double) i / SPLITS;
      }
    }
    splits.put(function, best);
  }

  /** Fits figures of functions to loops. */
  private final class Fit {
    private final Map<String, Integer> places = new LinkedHashMap<>();
    private final List<double[]> rows = new ArrayList<>();
    private final List<Double> measured = new ArrayList<>();
    private final double[] figures;

    Fit(List<String> functions, List<MeasuredStep> fitted) {
      functions.forEach(function -> places.put(function, places.size()));
      for (MeasuredStep step : fitted) {
        double[] row = new double[FIGURES * places.size()];
        for (CallUnit call : step.units(chip)) {
          add(row, features(call, step.loop().orElseThrow()));
        }
        rows.add(row);
        measured.add((double) step.measured().computeCycles());
      }
      double[] before = new double[FIGURES * places.size()];
      places.forEach(
          (function, place) ->
              System.arraycopy(known(function), 0, before, FIGURES * place, FIGURES));
      figures = LeastSquares.solve(rows, measured, before);
    }

    private void add(double[] row, CallFeatures of) {
      int place = FIGURES * places.get(of.function());
      String header = of.call().kernel().struct().header();
      int count = sizes.get(of.function()).size();
      double[] before = known(of.function());
      boolean hasBlock = count >= SEVERAL && blocked.contains(of.function()) || before[2] > 0;
      boolean hasResult = header.equals("convolution.h") || header.equals("attention.h");
      row[place] += count > 1 || before[0] > 0 ? of.runs() : 0;
      row[place + 1] += count > 1 || before[1] > 0 ? 1 : 0;
      row[place + 2] += hasBlock ? of.blocks() : 0;
      row[place + 3] += count >= SEVERAL && hasResult || before[3] > 0 ? of.results() : 0;
      row[place + 4] += of.work();
    }

    private double error(int row) {
      double sum = 0;
      for (int i = 0; i < figures.length; i++) {
        sum += rows.get(row)[i] * figures[i];
      }
      return sum / measured.get(row) - 1;
    }

    double squares() {
      double sum = 0;
      for (int row = 0; row < rows.size(); row++) {
        sum += error(row) * error(row);
      }
      return sum;
    }

    List<String> lines(String function) {
      int place = FIGURES * places.get(function);
      List<Double> errors = new ArrayList<>();
      for (int row = 0; row < rows.size(); row++) {
        if (rows.get(row)[place + 4] > 0) {
          errors.add(Math.abs(error(row)));
        }
      }
      errors.sort(null);
      CallUnit call = calls.get(function);
      KernelClass kernel =
          call.run().map(FunctionThroughput::kernel).orElse(call.kernel().kernelClass());
      WorkSharing sharing =
          CallFeatures.of(call, loopOf(function), 1, splits.get(function)).sharing();
      List<String> lines = new ArrayList<>();
      lines.add("    kernel " + kernel.text() + " " + function + " {");
      lines.add(
          String.format(
              Locale.ROOT,
              "      rate = %s %s/cycle from portable \"%d loops, %.1f %% off in the median, %.0f %% at most\"",
              digits(chip.cores() / Math.max(figures[place + 4], 1e-6)),
              isProduct(kernel) ? "MAC" : "elements",
              errors.size(),
              100 * errors.get(errors.size() / 2),
              100 * errors.getLast()));
      lines.add(figure("overhead", figures[place]));
      List<String> names = List.of("cold", "block", "result");
      for (int i = 0; i < names.size(); i++) {
        if (figures[place + 1 + i] >= 0.5) {
          lines.add(figure(names.get(i), figures[place + 1 + i]));
        }
      }
      if (sharing.split() > 0) {
        lines.add("      split = " + digits(sharing.split()) + " from portable");
      }
      if (sharing.rows() > 0) {
        lines.add("      rows = " + sharing.rows() + " from portable");
      }
      if (sharing.columns() > 0) {
        lines.add("      columns = " + sharing.columns() + " from portable");
      }
      lines.add("    }");
      return lines;
    }

    private static String figure(String name, double value) {
      return "      " + name + " = " + Math.round(value) + " cycles from portable";
    }
  }

  private TiledKernel loopOf(String function) {
    return steps.stream()
        .filter(step -> step.units(chip).contains(calls.get(function)))
        .map(step -> step.loop().orElseThrow())
        .findFirst()
        .orElseThrow();
  }

  private static boolean isProduct(KernelClass kernel) {
    return switch (kernel) {
      case MATMUL, MATVEC, CONVOLUTION -> true;
      case ELEMENTWISE, TRANSCENDENTAL, NORM, SOFTMAX, REDUCTION, MOVEMENT -> false;
    };
  }

  private static String digits(double value) {
    return new java.math.BigDecimal(value)
        .round(new java.math.MathContext(3))
        .stripTrailingZeros()
        .toPlainString();
  }
}
