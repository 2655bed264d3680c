package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.LanguageModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** Measures a model on data, by the Java that is emitted for it. */
public final class Evaluation {
  private static final JavaOptions OPTIONS = new JavaOptions("", "Model");

  /**
   * What to measure.
   *
   * @param strategy over which devices, each a thread, and how; none for one device
   * @param scaling of samples that aren't tokens
   * @param samples so many of the data's, the first ones; none for all
   * @param threads how many samples are scored at once
   */
  public record Request(
      Compilation.Request model,
      Optional<Sharding> sharding,
      EvaluationData data,
      Scaling scaling,
      OptionalInt samples,
      int threads) {}

  /**
   * What was measured.
   *
   * @param metric such as {@code perplexity}
   * @param isLargerBetter whether a better model has a larger value
   * @param mean of what the metric is a function of: of perplexity, the loss in nats
   * @param count how many were averaged: tokens or samples
   * @param unit what {@code count} counts
   * @param traffic of one run; none on one device
   * @param tokensPerRun that a program takes at once; 1 for samples that aren't tokens
   * @param seconds that the runs took, without reading and compiling
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
    /** What all devices together send for a token, or for a sample that isn't tokens. */
    public double bytesPerToken() {
      return traffic.map(sent -> (double) sent.bytes() / tokensPerRun).orElse(0.0);
    }
  }

  private final Consumer<Diagnostic> notes;
  private final Consumer<String> progress;

  /**
   * @param notes takes what the user should know although it stops nothing
   * @param progress takes what the evaluation is at
   */
  public Evaluation(Consumer<Diagnostic> notes, Consumer<String> progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @throws PartitaException when the model can't be compiled, or with {@link MetricCode}
   */
  public Result run(Request request) {
    Module module =
        new Compilation(notes, progress)
            .prepare(MetricChoice.fitted(request.model(), request.data()));
    Module placed = module;
    if (request.sharding().isPresent()) {
      progress.accept("sharding");
      placed = request.sharding().get().run(module);
    }
    return run(request, placed);
  }

  /**
   * Measures a module that was made of the request's model.
   *
   * @param module of the graph dialect or of the mesh dialect
   */
  Result run(Request request, Module module) {
    Optional<Program> program =
        module.placement().isPresent()
            ? Optional.of(Distribution.program(module))
            : Optional.empty();
    progress.accept("emitting Java");
    EmittedProgram emitted =
        program
            .map(several -> JavaBackend.emit(several, OPTIONS))
            .orElseGet(() -> JavaBackend.emit(module, OPTIONS));
    progress.accept("compiling Java");
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      Path model = request.model().model();
      Metric metric = MetricChoice.of(model, request.data(), request.scaling(), scorers.first());
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
          program.map(several -> several.devices().size()).orElse(1),
          program.map(several -> Traffic.of(module, several)),
          MetricChoice.isTokens(scorers.first()) ? tokensPerRun(model, scorers.first()) : 1,
          seconds);
    }
  }

  private static long tokensPerRun(Path model, CompiledModel program) {
    LanguageModel language = new LanguageModel(program, model);
    return language.isDecoder() ? 1 : language.context();
  }
}
