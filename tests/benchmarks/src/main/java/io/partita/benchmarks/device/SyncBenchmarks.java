package io.partita.benchmarks.device;

import io.partita.backend.emitted.measure.StepFigures;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.SyncSelection;
import io.partita.driver.evaluate.Calibration;
import io.partita.driver.evaluate.CodebookCalibration;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.Scaling;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;

/** A prompt on eight chips with exact syncs, and with rewritten ones. */
final class SyncBenchmarks {
  private static final int CHIPS = 8;
  private static final int TOKENS = 16;
  private static final long VOCABULARY = 65;
  private static final int SAMPLES = 8;
  private static final String CENTROIDS = "vq(k=256,groups=1)";

  /**
   * A row of the table.
   *
   * @param rules the rewrites; empty for exact syncs, with which the following rows are compared
   * @param calibration the file that they need; empty for none
   */
  private record Row(String name, Strategy strategy, String rules, String calibration) {}

  private static final List<Row> ROWS =
      List.of(
          new Row("tensor-exact", Strategy.tensor(CHIPS), "", ""),
          new Row("tensor-drop", Strategy.tensor(CHIPS), "drop", ""),
          new Row("tensor-int4", Strategy.tensor(CHIPS), "int4+bf16(k=1)", "ranges.json"),
          new Row(
              "tensor-int4-tree",
              Strategy.tensor(CHIPS),
              "int4(via=tree)+bf16(k=1)",
              "ranges.json"),
          new Row("sequence-exact", Strategy.sequence(CHIPS), "", ""),
          new Row("sequence-vq", Strategy.sequence(CHIPS), CENTROIDS, "codebooks.json"));

  private final Simulation simulation;
  private final Path model;
  private final Path folder;
  private final TargetDescription target = TargetLibrary.find("siracusa:chips=" + CHIPS);

  /**
   * @param model a folder with {@code prefill/network.onnx} and {@code eval.npz}
   * @param folder the folder for calibrations, which are reused
   */
  SyncBenchmarks(Simulation simulation, Path model, Path folder) {
    this.simulation = simulation;
    this.model = model;
    this.folder = folder;
  }

  /** A loop, or another step, by its node and kernels. */
  private record Work(String node, String kernels) {
    static Work of(ChipSchedule role, ScheduleStep step) {
      return new Work(step.origin().name(), PeerBenchmarks.kernels(role, step));
    }
  }

  /** The cycles of the slowest chip. */
  private record Measured(
      long cycles, double predicted, long bytes, long messages, long own, double difference) {}

  void run(PrintStream out) throws IOException {
    calibrate();
    out.println(
        "| strategy, syncs | measured, cycles | of exact | predicted | bytes sent | exchanges, cycles"
            + " | steps of the rewrite, cycles | from the host |");
    out.println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    Set<Work> exact = new HashSet<>();
    long exactCycles = 0;
    for (Row row : ROWS) {
      Schedule schedule = schedule(row);
      if (row.rules.isEmpty()) {
        exact.clear();
        for (ChipSchedule role : schedule.roles()) {
          role.steps().forEach(step -> exact.add(Work.of(role, step)));
        }
      }
      Measured measured = measure(row, schedule, exact);
      exactCycles = row.rules.isEmpty() ? measured.cycles : exactCycles;
      out.printf(
          Locale.ROOT,
          "| %s, `%s` | %,d | %.2f | %,.0f | %,d | %,d | %,d | %.1e |%n",
          row.strategy,
          row.rules.isEmpty() ? "exact" : row.rules,
          measured.cycles,
          (double) measured.cycles / exactCycles,
          measured.predicted,
          measured.bytes,
          measured.messages,
          measured.own,
          measured.difference);
    }
  }

  private Compilation.Request request(Map<String, Long> dims) {
    return new Compilation.Request(model.resolve("prefill/network.onnx"), dims, Map.of(), null);
  }

  private void calibrate() throws IOException {
    Files.createDirectories(folder);
    Path ranges = folder.resolve("ranges.json");
    new Calibration(note -> {}, step -> {})
        .run(calibration(Sharding.of(Strategy.tensor(CHIPS)), ranges));
    Path codebooks = folder.resolve("codebooks.json");
    if (!Files.exists(codebooks)) {
      SyncSelection chosen = selection(CENTROIDS, "");
      new CodebookCalibration(note -> {}, step -> {})
          .run(
              calibration(chosen.calibrated(Strategy.sequence(CHIPS)), codebooks),
              chosen.codebooks());
    }
  }

  private Calibration.Request calibration(Sharding sharding, Path output) {
    return new Calibration.Request(
        request(Map.of()),
        sharding,
        EvaluationData.read(model.resolve("eval.npz"), "calibration"),
        Scaling.NONE,
        OptionalInt.of(SAMPLES),
        1,
        output);
  }

  private SyncSelection selection(String rules, String calibration) {
    return new SyncSelection(
        Optional.of(rules).filter(text -> !text.isEmpty()),
        Optional.of(calibration).filter(name -> !name.isEmpty()).map(folder::resolve),
        Optional.empty());
  }

  private Schedule schedule(Row row) {
    Sharding sharding =
        selection(row.rules, row.calibration).sharding(Optional.of(row.strategy)).orElseThrow();
    Compilation compilation = new Compilation(note -> {}, step -> {});
    return Scheduler.schedule(
        Distribution.program(
            sharding.run(compilation.prepare(request(Map.of("seq", (long) TOKENS))))),
        target,
        SchedulerOptions.STANDARD);
  }

  private static Tensor tokens() {
    long[] tokens = new SplittableRandom(1).longs(TOKENS, 0, VOCABULARY).toArray();
    return Tensor.ofLongs(TensorType.of(ElementType.I64, 1, TOKENS), tokens);
  }

  /**
   * @param exact the steps of the exact program
   */
  private Measured measure(Row row, Schedule schedule, Set<Work> exact) throws IOException {
    String name = "syncs/" + row.name;
    List<Tensor> inputs = List.of(tokens());
    Simulation.MeasuredSteps measured = simulation.steps(name, schedule, inputs);
    int slowest = 0;
    long bytes = 0;
    for (int chip = 0; chip < CHIPS; chip++) {
      List<StepFigures> steps = measured.chips().get(chip);
      bytes += StepFigures.moved(steps).sent();
      if (StepFigures.cycles(steps) > StepFigures.cycles(measured.chips().get(slowest))) {
        slowest = chip;
      }
    }
    int chip = slowest;
    ChipSchedule role =
        schedule.roles().stream()
            .filter(each -> each.devices().contains(chip))
            .findFirst()
            .orElseThrow();
    long messages = 0;
    long own = 0;
    for (int i = 0; i < role.steps().size(); i++) {
      ScheduleStep step = role.steps().get(i);
      long cycles = measured.chips().get(chip).get(i).cycles();
      if (step instanceof ScheduleStep.Exchange) {
        messages += cycles;
      } else if (!exact.contains(Work.of(role, step))) {
        own += cycles;
      }
    }
    return new Measured(
        measured.cycles(),
        SchedulePrediction.of(schedule, target).devices().stream()
            .mapToDouble(DevicePrediction::cycles)
            .max()
            .orElseThrow(),
        bytes,
        messages,
        own,
        difference(measured.outputs(), simulation.runOnHost(name, inputs)));
  }

  /** Returns the largest difference, relative to the largest magnitude of an output. */
  private static double difference(List<Tensor> found, List<Tensor> expected) {
    double most = 0;
    for (int i = 0; i < found.size(); i++) {
      double largest = 0;
      double difference = 0;
      for (int j = 0; j < found.get(i).size(); j++) {
        double value = expected.get(i).getDouble(j);
        largest = Math.max(largest, Math.abs(value));
        difference = Math.max(difference, Math.abs(found.get(i).getDouble(j) - value));
      }
      most = Math.max(most, difference / largest);
    }
    return most;
  }
}
