package io.partita.benchmarks;

import io.partita.driver.Compilation;
import io.partita.driver.Sharding;
import io.partita.driver.SyncSelection;
import io.partita.driver.evaluate.Calibration;
import io.partita.driver.evaluate.CalibrationFile;
import io.partita.driver.evaluate.CodebookCalibration;
import io.partita.driver.evaluate.Evaluation;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.Scaling;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.TokenGathers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Measures the loss of models whose tokens are sent as indices of centroids: {@code
 * VectorBenchmarks MODELS FOLDER SAMPLES [class-tokens [DEVICES...]|perplexity]}, where MODELS has
 * mnist-vit and shakespeare-llama. Prints tables for docs/measurements.md. Codebooks are kept in
 * FOLDER and reused.
 */
final class VectorBenchmarks {
  private static final int SIZE = 1024;
  private static final List<Integer> GROUPS = List.of(1, 16, 32);
  private static final List<Integer> DEVICES = List.of(2, 4, 6, 8);
  private static final int LLAMA_DEVICES = 4;
  private static final int THREADS = 1;

  /** The position of the numbers of devices among the arguments. */
  private static final int FIRST_DEVICES = 4;

  /** Samples of a classifier for one sequence of a language model. */
  private static final int IMAGES_PER_SEQUENCE = 32;

  private final Path models;
  private final Path folder;
  private final int samples;

  private VectorBenchmarks(Path models, Path folder, int samples) {
    this.models = models;
    this.folder = folder;
    this.samples = samples;
  }

  public static void main(String[] arguments) throws IOException {
    VectorBenchmarks benchmarks =
        new VectorBenchmarks(
            Path.of(arguments[0]),
            Files.createDirectories(Path.of(arguments[1])),
            Integer.parseInt(arguments[2]));
    String table = arguments.length > 3 ? arguments[3] : "";
    if (!table.equals("perplexity")) {
      List<Integer> devices =
          Arrays.stream(arguments).skip(FIRST_DEVICES).map(Integer::valueOf).toList();
      benchmarks.classTokens(devices.isEmpty() ? DEVICES : devices);
    }
    if (!table.equals("class-tokens")) {
      benchmarks.perplexity();
    }
  }

  /** A model with its data. */
  private record Subject(Path model, Path data, Scaling scaling) {
    Evaluation.Result evaluate(Optional<String> passes, Optional<Sharding> sharding, int samples) {
      return new Evaluation(note -> {}, step -> {})
          .run(
              new Evaluation.Request(
                  new Compilation.Request(model, Map.of(), Map.of(), passes.orElse(null)),
                  sharding,
                  EvaluationData.read(data, "validation"),
                  scaling,
                  OptionalInt.of(samples),
                  THREADS));
    }

    /** Codebooks serve any number of devices. */
    void calibrate(Path output, int devices, TokenGathers.Kind kind) {
      if (Files.exists(output)) {
        return;
      }
      CalibrationFile file =
          new CodebookCalibration(note -> {}, step -> {})
              .run(
                  new Calibration.Request(
                      new Compilation.Request(model, Map.of(), Map.of(), null),
                      new SyncSelection(
                              Optional.of("vq(of=" + kind + ")"),
                              Optional.empty(),
                              Optional.empty())
                          .calibrated(Strategy.sequence(devices)),
                      EvaluationData.read(data, "calibration"),
                      scaling,
                      OptionalInt.empty(),
                      THREADS,
                      output),
                  GROUPS.stream()
                      .map(groups -> new SyncMethod.Width.Vector(SIZE, groups, kind))
                      .toList());
      System.err.println(file.calibration().codebooks().size() + " codebooks in " + output);
    }
  }

  private static Optional<Sharding> sharding(
      int devices, SyncMethod.Width.Vector method, Path calibration) {
    return new SyncSelection(
            Optional.of(method.toString()), Optional.of(calibration), Optional.empty())
        .sharding(Optional.of(Strategy.sequence(devices)));
  }

  private void classTokens(List<Integer> counts) {
    Path model = models.resolve("mnist-vit");
    Subject vit =
        new Subject(
            model.resolve("network.onnx"), model.resolve("eval.npz"), new Scaling(0.5, 0.5));
    Path calibration = folder.resolve("vit.json");
    vit.calibrate(calibration, 2, TokenGathers.Kind.FEATURES);
    System.out.printf(
        Locale.ROOT,
        "mnist-vit, %d images, exact: %.1f %%%n",
        samples,
        100 * vit.evaluate(Optional.empty(), Optional.empty(), samples).value());
    System.out.println(
        "| devices | groups | bytes for an image | single class token | distributed |");
    System.out.println("| ---: | ---: | ---: | ---: | ---: |");
    for (int devices : counts) {
      String copies = "simplify,raise,simplify,class-tokens(devices=" + devices + ")";
      for (int groups : GROUPS) {
        SyncMethod.Width.Vector method =
            new SyncMethod.Width.Vector(SIZE, groups, TokenGathers.Kind.FEATURES);
        Optional<Sharding> sharding = sharding(devices, method, calibration);
        Evaluation.Result single = vit.evaluate(Optional.empty(), sharding, samples);
        Evaluation.Result distributed = vit.evaluate(Optional.of(copies), sharding, samples);
        System.out.printf(
            Locale.ROOT,
            "| %d | %d | %,.0f | %.1f %% | %.1f %% |%n",
            devices,
            groups,
            single.bytesPerToken(),
            100 * single.value(),
            100 * distributed.value());
      }
    }
  }

  private void perplexity() {
    Path model = models.resolve("shakespeare-llama");
    Subject llama =
        new Subject(model.resolve("prefill/network.onnx"), model.resolve("eval.npz"), Scaling.NONE);
    int sequences = Math.max(1, samples / IMAGES_PER_SEQUENCE);
    System.out.printf(
        Locale.ROOT,
        "shakespeare-llama, %d devices, %d sequences of 256 tokens%n",
        LLAMA_DEVICES,
        sequences);
    System.out.println("| tokens as | groups | bytes for a token | perplexity |");
    System.out.println("| --- | ---: | ---: | ---: |");
    Evaluation.Result exact =
        llama.evaluate(
            Optional.empty(),
            Optional.of(Sharding.of(Strategy.sequence(LLAMA_DEVICES))),
            sequences);
    System.out.printf(
        Locale.ROOT, "| exact | | %,.0f | %.3f |%n", exact.bytesPerToken(), exact.value());
    for (TokenGathers.Kind kind : TokenGathers.Kind.values()) {
      Path calibration = folder.resolve("llama-" + kind + ".json");
      llama.calibrate(calibration, LLAMA_DEVICES, kind);
      for (int groups : GROUPS) {
        SyncMethod.Width.Vector method = new SyncMethod.Width.Vector(SIZE, groups, kind);
        Evaluation.Result found =
            llama.evaluate(
                Optional.empty(), sharding(LLAMA_DEVICES, method, calibration), sequences);
        System.out.printf(
            Locale.ROOT,
            "| %s | %d | %,.0f | %.3f |%n",
            kind,
            groups,
            found.bytesPerToken(),
            found.value());
      }
    }
  }
}
