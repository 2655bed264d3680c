package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.text.CompiledModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.TensorHash;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.Residual;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.TokenGathers;
import io.partita.passes.mesh.sync.TokenStatistics;
import io.partita.passes.mesh.sync.TokenSync;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Finds the codebooks of the tokens that devices gather, using the Java emitted for the model. */
public final class CodebookCalibration {
  /** The largest number of tokens that are kept for each centroid of a group. */
  private static final int TOKENS_PER_CENTROID = 32;

  /** The number of samples whose tokens are in memory before some are kept. */
  private static final int STRETCH = 16;

  private final Consumer<Diagnostic> notes;
  private final Consumer<String> progress;

  public CodebookCalibration(Consumer<Diagnostic> notes, Consumer<String> progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * @param methods each for all syncs that gather what it quantises
   * @return the calibration, as in the file
   * @throws PartitaException if the model can't be compiled or its devices gather no tokens; with
   *     {@link MetricCode} if the data or the methods don't fit
   */
  public CalibrationFile run(Calibration.Request request, List<SyncMethod.Width.Vector> methods) {
    if (Files.exists(request.output())) {
      throw MetricCode.CALIBRATION_FILE.at(
          request.output().toString(),
          "no file yet: codebooks are computed at once",
          "a file",
          "choose another file with -o, or delete this one");
    }
    Module module =
        new Compilation(notes, progress)
            .prepare(MetricChoice.fitted(request.model(), request.data()));
    progress.accept("sharding");
    Module sharded = request.sharding().run(module);
    TokenStatistics.Measuring measuring = TokenStatistics.of(sharded);
    requireFitting(methods, measuring.syncs());
    for (TokenSync sync : measuring.syncs()) {
      fitting(methods, sync).forEach(method -> requireGroups(sync, method));
    }
    progress.accept("emitting Java");
    EmittedJava emitted =
        JavaTarget.USUAL.backend().emit(Distribution.program(measuring.module()), Optional.empty());
    progress.accept("compiling Java");
    int most = methods.stream().mapToInt(SyncMethod.Width.Vector::size).max().orElseThrow();
    List<Reservoir> reservoirs =
        measuring.syncs().stream()
            .map(sync -> new Reservoir(sync.features(), most * TOKENS_PER_CENTROID))
            .toList();
    int samples;
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      samples = fill(reservoirs, request, measuring, scorers);
    }
    List<Codebook> books = new ArrayList<>();
    for (int i = 0; i < measuring.syncs().size(); i++) {
      TokenSync sync = measuring.syncs().get(i);
      float[] tokens = reservoirs.get(i).vectors();
      for (SyncMethod.Width.Vector method : fitting(methods, sync)) {
        progress.accept("clustering the tokens of block " + sync.block());
        books.add(book(tokens, sync, method));
      }
    }
    CalibrationFile file =
        new CalibrationFile(
            new SyncCalibration(
                request.output().toString(),
                sharded.placement().orElseThrow().mesh().toString(),
                List.of(),
                books),
            new TensorHash().add(request.data().samples()).text(),
            samples,
            samples);
    file.write(request.output());
    return file;
  }

  /** The methods that quantise what a sync gathers. */
  private static List<SyncMethod.Width.Vector> fitting(
      List<SyncMethod.Width.Vector> methods, TokenSync sync) {
    return methods.stream().filter(method -> method.of() == sync.kind()).toList();
  }

  /** Offers the tokens of all samples, in order, and returns the number of samples. */
  private int fill(
      List<Reservoir> reservoirs,
      Calibration.Request request,
      TokenStatistics.Measuring measuring,
      Scorers scorers) {
    Metric metric =
        MetricChoice.of(
            request.model().model(),
            request.data(),
            request.scaling(),
            measured(scorers.first(), measuring));
    int wanted = Math.min(metric.samples(), request.samples().orElse(Integer.MAX_VALUE));
    RemainingTime remaining = new RemainingTime("measured", 0, wanted, progress);
    for (int from = 0; from < wanted; from += STRETCH) {
      List<List<float[]>> found =
          scorers.each(
              from,
              Math.min(wanted, from + STRETCH),
              (program, sample) -> {
                MeasuredRun<List<float[]>> run = measured(program, measuring);
                metric.score(run, sample);
                return run.measured();
              },
              remaining);
      for (List<float[]> sample : found) {
        for (int i = 0; i < reservoirs.size(); i++) {
          requireFinite(sample.get(i), measuring.syncs().get(i));
          reservoirs.get(i).add(sample.get(i));
        }
      }
    }
    return wanted;
  }

  private static MeasuredRun<List<float[]>> measured(
      CompiledModel program, TokenStatistics.Measuring measuring) {
    return new MeasuredRun<>(
        program,
        measuring,
        measuring::tokens,
        (one, other) -> {
          List<float[]> both = new ArrayList<>();
          for (int i = 0; i < one.size(); i++) {
            both.add(joined(List.of(one.get(i), other.get(i))));
          }
          return both;
        });
  }

  private static float[] joined(List<float[]> parts) {
    float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
    int next = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, next, part.length);
      next += part.length;
    }
    return all;
  }

  private static void requireFitting(List<SyncMethod.Width.Vector> methods, List<TokenSync> syncs) {
    if (syncs.stream().allMatch(sync -> fitting(methods, sync).isEmpty())) {
      TokenGathers.Kind found = syncs.getFirst().kind();
      throw MetricCode.CODEBOOK.at(
          "--sync, " + methods.getFirst(),
          "a model whose devices gather " + name(methods.getFirst().of()),
          name(found),
          "write vq(…,of=" + found + ")");
    }
  }

  private static String name(TokenGathers.Kind kind) {
    return switch (kind) {
      case FEATURES -> "features";
      case KV -> "keys and values";
    };
  }

  private static void requireGroups(TokenSync sync, SyncMethod.Width.Vector method) {
    if (sync.features() % method.groups() != 0) {
      throw MetricCode.CODEBOOK.at(
          "--sync, groups=" + method.groups(),
          "a divisor of the " + sync.features() + " features of " + sync.node(),
          method.groups(),
          "choose another number of groups");
    }
  }

  private static void requireFinite(float[] tokens, TokenSync sync) {
    for (float each : tokens) {
      if (!Float.isFinite(each)) {
        throw MetricCode.CODEBOOK.at(
            "tokens of block " + sync.block(),
            "finite numbers",
            each,
            "calibrate on data on which the model gives finite numbers");
      }
    }
  }

  private static Codebook book(float[] tokens, TokenSync sync, SyncMethod.Width.Vector method) {
    int features = sync.features();
    int count = tokens.length / features;
    if (count < method.size()) {
      throw MetricCode.CODEBOOK.at(
          "--sync, k=" + method.size(),
          "at least " + method.size() + " tokens",
          count + " tokens",
          "calibrate on more samples, or with k=" + Integer.highestOneBit(Math.max(2, count)));
    }
    int width = features / method.groups();
    float[] centroids = new float[method.size() * features];
    float[] quantised = new float[tokens.length];
    for (int group = 0; group < method.groups(); group++) {
      float[] vectors = group(tokens, features, group * width, width);
      float[] found = CodebookTraining.centroids(vectors, width, method.size());
      System.arraycopy(found, 0, centroids, group * found.length, found.length);
      int[] indices = CodebookTraining.Nearest.of(vectors, found, width).indices();
      for (int i = 0; i < count; i++) {
        System.arraycopy(found, indices[i] * width, quantised, i * features + group * width, width);
      }
    }
    return new Codebook(
        sync.node().name(),
        sync.weights(),
        features,
        method.groups(),
        method.size(),
        centroids,
        residual(tokens, quantised, features));
  }

  static Residual residual(float[] tokens, float[] quantised, int features) {
    float[] residuals = new float[tokens.length];
    for (int i = 0; i < tokens.length; i++) {
      residuals[i] = tokens[i] - quantised[i];
    }
    Gaussian exact = Gaussian.of(tokens, features);
    Gaussian approximate = Gaussian.of(quantised, features);
    Gaussian noise = Gaussian.of(residuals, features);
    double lost = 0;
    double spread = 0;
    float[] mean = new float[features];
    float[] covariance = new float[features * features];
    for (int j = 0; j < features; j++) {
      lost += noise.covariance()[j][j] + noise.mean()[j] * noise.mean()[j];
      spread += exact.covariance()[j][j];
      mean[j] = (float) noise.mean()[j];
      for (int k = 0; k < features; k++) {
        covariance[j * features + k] = (float) noise.covariance()[j][k];
      }
    }
    return new Residual(
        spread == 0 ? 0 : lost / spread,
        exact.distance(approximate),
        exact.distance(approximate.plus(noise)),
        mean,
        covariance);
  }

  private static float[] group(float[] tokens, int features, int from, int width) {
    float[] vectors = new float[tokens.length / features * width];
    for (int i = 0; i < tokens.length / features; i++) {
      System.arraycopy(tokens, i * features + from, vectors, i * width, width);
    }
    return vectors;
  }
}
