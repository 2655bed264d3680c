package io.partita.driver.evaluate;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.java.EmittedJava;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.Sharding;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.LanguageModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.progress.ProgressListener;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Function;

/** Measures a model on data, using the Java emitted for it. */
public final class Evaluation {

  /**
   * The evaluation to run.
   *
   * @param sharding the distribution over devices, each a thread; empty for one device
   * @param scaling the scaling of samples that aren't tokens
   * @param samples the number of samples, from the first on; empty for all
   * @param threads the number of samples scored in parallel
   */
  public record Request(
      Compilation.Request model,
      Optional<Sharding> sharding,
      EvaluationData data,
      Scaling scaling,
      OptionalInt samples,
      int threads) {}

  /**
   * The result of an evaluation.
   *
   * @param metric such as {@code perplexity}
   * @param isLargerBetter whether a better model has a larger value
   * @param mean the mean from which the metric is computed: for perplexity, the loss in nats
   * @param count the number of averaged tokens or samples
   * @param unit the unit of {@code count}
   * @param traffic the traffic of one run; empty on one device
   * @param tokensPerRun the tokens that a program takes at once; 1 for other samples
   * @param seconds the time of the runs, without reading and compiling
   */
  public record Result(
      String metric,
      boolean isLargerBetter,
      double value,
      double mean,
      long count,
      String unit,
      int devices,
      Optional<Traffic> traffic,
      long tokensPerRun,
      double seconds) {
    /** The bytes that all devices send per token, or per sample that isn't tokens. */
    public double bytesPerToken() {
      return traffic.map(sent -> (double) sent.bytes() / tokensPerRun).orElse(0.0);
    }

    /** The part of these bytes that the syncs of transformer blocks send. */
    public double blockBytesPerToken() {
      return traffic.map(sent -> (double) sent.blockBytes() / tokensPerRun).orElse(0.0);
    }
  }

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public Evaluation(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @throws PartitaException when the model can't be compiled, or with {@link MetricCode}
   */
  public Result run(Request request) {
    Module module =
        MetricChoice.prepared(
            request.model(), request.data(), new Compilation(notes, progress)::prepare);
    Module placed = module;
    if (request.sharding().isPresent()) {
      progress.step("sharding");
      placed = request.sharding().get().run(module);
    }
    return run(request, placed);
  }

  /**
   * Measures a module that was made from the request's model.
   *
   * @param module a module of the graph or mesh dialect
   */
  Result run(Request request, Module module) {
    return run(request, module, program -> LanguageModel.Observer.NONE);
  }

  /** As above; an observer receives the outputs of a language model's scored tokens. */
  Result run(
      Request request, Module module, Function<ProgramInterface, LanguageModel.Observer> observer) {
    Program program = Distribution.program(module);
    progress.step("emitting Java");
    EmittedJava emitted = JavaTarget.USUAL.backend().emit(program, Optional.empty());
    progress.step("compiling Java");
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      Path model = request.model().model();
      Metric metric =
          MetricChoice.of(
              model,
              request.data(),
              request.scaling(),
              scorers.first(),
              observer.apply(scorers.first().description()));
      metric.verify(scorers.first());
      int samples = Math.min(metric.samples(), request.samples().orElse(Integer.MAX_VALUE));
      long start = System.nanoTime();
      Score score = scorers.score(metric, samples, progress);
      double seconds = (System.nanoTime() - start) / 1e9;
      return new Result(
          metric.name(),
          metric.isLargerBetter(),
          metric.value(score.mean()),
          score.mean(),
          score.count(),
          metric.unit(),
          program.devices().size(),
          module.placement().map(placement -> Traffic.of(module, program)),
          MetricChoice.isTokens(scorers.first()) ? tokensPerRun(model, scorers.first()) : 1,
          seconds);
    }
  }

  private static long tokensPerRun(Path model, CompiledModel program) {
    LanguageModel language = new LanguageModel(program, model);
    return language.isDecoder() ? 1 : language.context();
  }
}
