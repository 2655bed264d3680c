package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.text.CompiledModel;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.sync.Statistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs of a model on data that show values within the model. */
public final class ObservedRuns implements AutoCloseable {
  /**
   * The data of the runs.
   *
   * @param scaling the scaling of samples that aren't integers
   * @param samples the number of samples, from the first on; empty for all
   * @param threads the number of samples run in parallel
   */
  public record Data(CalibrationData samples, Scaling scaling, OptionalInt count, int threads) {
    /** Returns the data with a metric that leaves out outputs of caches. */
    public Data without(Set<String> caches) {
      return new Data(samples.without(caches), scaling, count, threads);
    }

    /** Returns the data of a model whose inputs of caches are integers. */
    public Data quantized(Map<String, Affine> caches) {
      return new Data(samples.quantized(caches), scaling, count, threads);
    }
  }

  /** The added outputs as a rewrite of a module sees them. */
  private record Added(Module module, int outputs) implements Statistics {}

  /** What the runs on a sample showed, and its score. */
  private record Observed<R>(R found, Score score) {}

  private final Scorers scorers;
  private final Metric metric;
  private final Added added;
  private final int samples;
  private final ProgressListener progress;
  private Optional<Double> value = Optional.empty();

  private ObservedRuns(
      Scorers scorers, Metric metric, Added added, OptionalInt samples, ProgressListener progress) {
    this.scorers = scorers;
    this.metric = metric;
    this.added = added;
    this.samples = Math.min(metric.samples(), samples.orElse(Integer.MAX_VALUE));
    this.progress = progress;
  }

  /**
   * Compiles a model that returns further values.
   *
   * @param request the model's file and its options
   * @param values the names of values, by the names of the added outputs
   * @throws io.partita.ir.diagnostic.PartitaException if the model can't be compiled, or with
   *     {@link MetricCode} if the data doesn't fit it
   */
  public static ObservedRuns of(
      Compilation.Request request,
      OnnxModel model,
      SequencedMap<String, String> values,
      Data data,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    Module module = data.samples().prepared(request, model.withOutputs(values), notes, progress);
    Added added = new Added(module, values.size());
    progress.step("emitting Java");
    EmittedJava emitted =
        JavaTarget.USUAL.backend().emit(Distribution.program(module), Optional.empty());
    progress.step("compiling Java");
    Scorers scorers = new Scorers(emitted, data.threads());
    try {
      Metric metric =
          data.samples()
              .metric(
                  request.model(),
                  data.scaling(),
                  new MeasuredRun<>(scorers.first(), added, outputs -> 0, (one, other) -> 0));
      return new ObservedRuns(scorers, metric, added, data.count(), progress);
    } catch (RuntimeException failure) {
      scorers.close();
      throw failure;
    }
  }

  /** The number of samples. */
  public int samples() {
    return samples;
  }

  /**
   * Runs the model on the first samples.
   *
   * @param what a participle for the progress, such as {@code measured}
   * @param reader reads the outputs of a run by name, the added ones among them
   * @param join joins what it read in several runs on one sample
   * @return what it read, for each sample in order
   */
  public <R> List<R> each(
      String what, int count, Function<Map<String, Tensor>, R> reader, BinaryOperator<R> join) {
    List<Observed<R>> all =
        scorers.each(
            0,
            count,
            (program, sample) -> observed(program, sample, reader, join),
            new SampleProgress(what, 0, count, progress));
    value =
        Optional.of(
            metric.value(all.stream().map(Observed::score).reduce(Score.NONE, Score::plus).mean()));
    List<R> found = new ArrayList<>();
    all.forEach(each -> found.add(each.found()));
    return found;
  }

  private <R> Observed<R> observed(
      CompiledModel program,
      int sample,
      Function<Map<String, Tensor>, R> reader,
      BinaryOperator<R> join) {
    MeasuredRun<R> run = new MeasuredRun<>(program, added, reader, join);
    Score score = metric.score(run, sample);
    return new Observed<>(run.measured(), score);
  }

  /** The name of the metric of the model. */
  public String metric() {
    return metric.name();
  }

  /** Whether the metric measures how good the model is. */
  public boolean isQuality() {
    return metric.isQuality();
  }

  /** The metric on the samples of the last runs. */
  public double value() {
    return value.orElseThrow();
  }

  @Override
  public void close() {
    scorers.close();
  }
}
