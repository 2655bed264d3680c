package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.Sharding;
import io.partita.driver.text.CompiledModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.TensorHash;
import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.RangeStatistics;
import io.partita.passes.mesh.sync.SumErrors;
import io.partita.passes.mesh.sync.SumSync;
import io.partita.passes.mesh.sync.SyncCalibration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Measures the ranges of the values that devices send, using the Java emitted for the model. */
public final class Calibration {

  /**
   * The number of samples between writes of the file, from which an interrupted calibration
   * resumes.
   */
  private static final int STRETCH = 16;

  /** The most samples on which the errors of encodings are measured. */
  private static final int ERROR_SAMPLES = 8;

  /**
   * The calibration to measure.
   *
   * @param samples the number of samples, from the first on; empty for all
   * @param threads the number of samples measured in parallel
   * @param output the file, which is resumed if it belongs to the same calibration
   */
  public record Request(
      Compilation.Request model,
      Sharding sharding,
      EvaluationData data,
      Scaling scaling,
      OptionalInt samples,
      int threads,
      Path output) {}

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  public Calibration(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @return the calibration, as in the file
   * @throws PartitaException when the model can't be compiled or has no sums, with {@link
   *     MetricCode} when data or file don't fit
   */
  public CalibrationFile run(Request request) {
    Module module =
        MetricChoice.prepared(
            request.model(), request.data(), new Compilation(notes, progress)::prepare);
    progress.step("sharding");
    Module sharded = request.sharding().run(module);
    RangeStatistics.Measuring measuring = RangeStatistics.of(sharded);
    String mesh = sharded.placement().orElseThrow().mesh().toString();
    progress.step("emitting Java");
    EmittedJava emitted =
        JavaTarget.USUAL.backend().emit(Distribution.program(measuring.module()), Optional.empty());
    progress.step("compiling Java");
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      Metric metric =
          MetricChoice.of(
              request.model().model(),
              request.data(),
              request.scaling(),
              measured(scorers.first(), measuring));
      int wanted = Math.min(metric.samples(), request.samples().orElse(Integer.MAX_VALUE));
      CalibrationFile file = begun(request, mesh, measuring, wanted);
      SampleProgress finished = new SampleProgress("measured", file.sequences(), wanted, progress);
      while (file.sequences() < wanted) {
        int from = file.sequences();
        int to = Math.min(wanted, from + STRETCH);
        List<List<FeatureRanges>> found =
            scorers.each(
                from,
                to,
                (program, sample) -> {
                  MeasuredRun<List<FeatureRanges>> run = measured(program, measuring);
                  metric.score(run, sample);
                  return run.measured();
                },
                finished);
        for (List<FeatureRanges> sequence : found) {
          file = updated(file, sequence, measuring.sums());
        }
        file.write(request.output());
      }
      if (file.calibration().sums().stream().anyMatch(sum -> sum.errors().squares().isEmpty())) {
        file = withErrors(file, measuring, metric, scorers);
        file.write(request.output());
      }
      return file;
    }
  }

  /** Measures the errors of encodings with these ranges, on the first samples. */
  private CalibrationFile withErrors(
      CalibrationFile file, RangeStatistics.Measuring measuring, Metric metric, Scorers scorers) {
    List<SyncCalibration.Sum> sums = file.calibration().sums();
    List<FeatureRanges> ranges = sums.stream().map(SyncCalibration.Sum::ranges).toList();
    if (ranges.stream().anyMatch(each -> !each.isFinite())) {
      return file;
    }
    int samples = Math.min(file.wanted(), ERROR_SAMPLES);
    List<SumErrors> errors =
        scorers
            .each(
                0,
                samples,
                (program, sample) -> {
                  MeasuredRun<List<SumErrors>> run =
                      new MeasuredRun<>(
                          program,
                          measuring,
                          outputs -> measuring.errors(outputs, ranges),
                          Calibration::joined);
                  metric.score(run, sample);
                  return run.measured();
                },
                new SampleProgress("measured errors on", 0, samples, progress))
            .stream()
            .reduce(Calibration::joined)
            .orElseThrow();
    List<SyncCalibration.Sum> measured =
        IntStream.range(0, sums.size())
            .mapToObj(
                i ->
                    new SyncCalibration.Sum(
                        sums.get(i).name(), sums.get(i).weights(), ranges.get(i), errors.get(i)))
            .toList();
    SyncCalibration calibration = file.calibration();
    return new CalibrationFile(
        new SyncCalibration(calibration.source(), calibration.mesh(), measured),
        file.data(),
        file.sequences(),
        file.wanted());
  }

  private static List<SumErrors> joined(List<SumErrors> one, List<SumErrors> other) {
    return IntStream.range(0, one.size()).mapToObj(i -> one.get(i).plus(other.get(i))).toList();
  }

  private static MeasuredRun<List<FeatureRanges>> measured(
      CompiledModel program, RangeStatistics.Measuring measuring) {
    return new MeasuredRun<>(
        program,
        measuring,
        measuring::ranges,
        (one, other) ->
            IntStream.range(0, one.size()).mapToObj(i -> one.get(i).joined(other.get(i))).toList());
  }

  private static CalibrationFile updated(
      CalibrationFile file, List<FeatureRanges> sequence, List<SumSync> syncs) {
    List<SyncCalibration.Sum> before = file.calibration().sums();
    List<SyncCalibration.Sum> sums =
        IntStream.range(0, syncs.size())
            .mapToObj(
                i ->
                    before.isEmpty()
                        ? new SyncCalibration.Sum(
                            syncs.get(i).node().name(), syncs.get(i).weights(), sequence.get(i))
                        : new SyncCalibration.Sum(
                            before.get(i).name(),
                            before.get(i).weights(),
                            before.get(i).ranges().updated(sequence.get(i))))
            .toList();
    return new CalibrationFile(
        new SyncCalibration(file.calibration().source(), file.calibration().mesh(), sums),
        file.data(),
        file.sequences() + 1,
        file.wanted());
  }

  /** The contents of the file, or an empty calibration. */
  private static CalibrationFile begun(
      Request request, String mesh, RangeStatistics.Measuring measuring, int wanted) {
    String data = new TensorHash().add(request.data().samples()).text();
    Path output = request.output();
    if (!Files.exists(output)) {
      SyncCalibration none = new SyncCalibration(output.toString(), mesh, List.of());
      return new CalibrationFile(none, data, 0, wanted);
    }
    CalibrationFile there = CalibrationFile.readAny(output);
    List<String> weights = new ArrayList<>();
    there.calibration().sums().forEach(sum -> weights.add(sum.weights()));
    boolean isSame =
        there.data().equals(data)
            && there.wanted() == wanted
            && there.calibration().mesh().equals(mesh)
            && weights.equals(measuring.sums().stream().map(SumSync::weights).toList());
    if (!isSame) {
      throw MetricCode.CALIBRATION_FILE.at(
          output.toString(),
          "no file yet, or one of this calibration, which is resumed",
          "a calibration of another model, other data or other devices",
          "choose another file with -o, or delete this one");
    }
    return there;
  }
}
