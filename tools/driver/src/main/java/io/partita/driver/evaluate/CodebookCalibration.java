package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.text.CompiledModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.TensorHash;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.Residual;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.TokenGathers;
import io.partita.passes.mesh.sync.TokenStatistics;
import io.partita.passes.mesh.sync.TokenSync;
import java.nio.file.Files;
import java.nio.file.Path;
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
  private final ProgressListener progress;

  public CodebookCalibration(Consumer<Diagnostic> notes, ProgressListener progress) {
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
    Module module =
        MetricChoice.prepared(
            request.model(), request.data(), new Compilation(notes, progress)::prepare);
    progress.step("sharding");
    Module sharded = request.sharding().run(module);
    TokenStatistics.Measuring measuring = TokenStatistics.of(sharded);
    requireFitting(methods, measuring.syncs());
    for (TokenSync sync : measuring.syncs()) {
      fitting(methods, sync).forEach(method -> requireGroups(sync, method));
    }
    int most = methods.stream().mapToInt(SyncMethod.Width.Vector::size).max().orElseThrow();
    List<Training> trainings = new ArrayList<>();
    for (TokenSync sync : measuring.syncs()) {
      fitting(methods, sync).forEach(method -> trainings.add(new Training(sync, method)));
    }
    String mesh = sharded.placement().orElseThrow().mesh().toString();
    String data = new TensorHash().add(request.data().samples()).text();
    progress.step("emitting Java");
    EmittedJava emitted =
        JavaTarget.USUAL.backend().emit(Distribution.program(measuring.module()), Optional.empty());
    progress.step("compiling Java");
    CalibrationFile file;
    SampledTokens tokens;
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      Metric metric =
          MetricChoice.of(
              request.model().model(),
              request.data(),
              request.scaling(),
              measured(scorers.first(), measuring));
      int wanted = Math.min(metric.samples(), request.samples().orElse(Integer.MAX_VALUE));
      file = begun(request, mesh, data, trainings, wanted);
      tokens =
          SampledTokens.open(
              request.output(),
              data + " " + wanted + " " + request.scaling() + " " + trainings,
              measuring.syncs().stream().map(TokenSync::features).toList(),
              most * TOKENS_PER_CENTROID);
      if (file.calibration().codebooks().size() < trainings.size()) {
        SampleProgress finished =
            new SampleProgress("measured", tokens.samples(), wanted, progress);
        fill(tokens, wanted, measuring, metric, scorers, finished);
      }
    }
    requireTokens(trainings, measuring.syncs(), tokens, file);
    for (int i = file.calibration().codebooks().size(); i < trainings.size(); i++) {
      TokenSync sync = trainings.get(i).sync();
      progress.step("codebook %d of %d, block %d".formatted(i + 1, trainings.size(), sync.block()));
      float[] sampled = tokens.vectors(measuring.syncs().indexOf(sync));
      file = file.with(book(sampled, sync, trainings.get(i).method()));
      file.write(request.output());
    }
    tokens.delete();
    return file;
  }

  /** A codebook to train. */
  private record Training(TokenSync sync, SyncMethod.Width.Vector method) {
    boolean isFor(Codebook book) {
      return book.weights().equals(sync.weights())
          && book.size() == method.size()
          && book.groups() == method.groups();
    }

    @Override
    public String toString() {
      return sync.weights() + " " + method;
    }
  }

  /** The contents of the file, which may lack codebooks, or none of them. */
  private static CalibrationFile begun(
      Calibration.Request request, String mesh, String data, List<Training> trainings, int wanted) {
    Path output = request.output();
    if (!Files.exists(output)) {
      SyncCalibration none = new SyncCalibration(output.toString(), mesh, List.of(), List.of());
      return new CalibrationFile(none, data, wanted, wanted, trainings.size());
    }
    CalibrationFile there = CalibrationFile.readAny(output);
    List<Codebook> books = there.calibration().codebooks();
    boolean isSame =
        there.data().equals(data)
            && there.wanted() == wanted
            && there.calibration().mesh().equals(mesh)
            && there.books() == trainings.size()
            && books.size() <= trainings.size();
    for (int i = 0; isSame && i < books.size(); i++) {
      isSame = trainings.get(i).isFor(books.get(i));
    }
    if (!isSame) {
      throw MetricCode.CALIBRATION_FILE.at(
          output.toString(),
          "no file yet, or one of this calibration, which is resumed",
          "a calibration of another model, other data, devices or methods",
          "choose another file with -o, or delete this one");
    }
    return there;
  }

  /** Offers the tokens of the samples that are left, in order. */
  private static void fill(
      SampledTokens tokens,
      int wanted,
      TokenStatistics.Measuring measuring,
      Metric metric,
      Scorers scorers,
      SampleProgress finished) {
    while (tokens.samples() < wanted) {
      List<List<float[]>> found =
          scorers.each(
              tokens.samples(),
              Math.min(wanted, tokens.samples() + STRETCH),
              (program, sample) -> {
                MeasuredRun<List<float[]>> run = measured(program, measuring);
                metric.score(run, sample);
                return run.measured();
              },
              finished);
      for (List<float[]> sample : found) {
        for (int i = 0; i < sample.size(); i++) {
          requireFinite(sample.get(i), measuring.syncs().get(i));
        }
        tokens.add(sample);
      }
      tokens.write();
    }
  }

  /** The methods that quantise what a sync gathers. */
  private static List<SyncMethod.Width.Vector> fitting(
      List<SyncMethod.Width.Vector> methods, TokenSync sync) {
    return methods.stream().filter(method -> method.of() == sync.kind()).toList();
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

  /** More samples or fewer centroids are another calibration, so the tokens aren't kept. */
  private static void requireTokens(
      List<Training> trainings, List<TokenSync> syncs, SampledTokens tokens, CalibrationFile file) {
    int trained = file.calibration().codebooks().size();
    for (Training training : trainings.subList(trained, trainings.size())) {
      int size = training.method().size();
      int count =
          tokens.vectors(syncs.indexOf(training.sync())).length / training.sync().features();
      if (count < size) {
        tokens.delete();
        throw MetricCode.CODEBOOK.at(
            "--sync, k=" + size,
            "at least " + size + " tokens",
            count + " tokens",
            "calibrate on more samples, or with k=" + Integer.highestOneBit(Math.max(2, count)));
      }
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
