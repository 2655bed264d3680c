package io.partita.driver.quantize;

import io.partita.driver.Compilation;
import io.partita.driver.evaluate.CalibrationData;
import io.partita.driver.evaluate.ObservedRuns;
import io.partita.driver.evaluate.Scaling;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.progress.ProgressListener;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A quantization of models when they are read, with its data. */
public final class QuantizationStep {
  private final Path calibration;
  private final String array;
  private final Scaling scaling;
  private final int samples;
  private final int threads;
  private final Quantization.Settings settings;

  /** What a quantized model depends on apart from this. */
  private record Given(Path model, Map<String, Long> dims, Map<String, String> values) {}

  /** The models that were quantized: a search for a plan prepares a model several times. */
  private final Map<Given, OnnxModel> quantized = new HashMap<>();

  QuantizationStep(
      Path calibration,
      String array,
      Scaling scaling,
      int samples,
      int threads,
      Quantization.Settings settings) {
    this.calibration = calibration;
    this.array = array;
    this.scaling = scaling;
    this.samples = samples;
    this.threads = threads;
    this.settings = settings;
  }

  /** The file of the data. */
  public Path calibration() {
    return calibration;
  }

  /**
   * Quantizes a model.
   *
   * @param notes receives notes for the user
   * @param progress receives the current step
   * @throws io.partita.ir.diagnostic.PartitaException as {@link Quantization#run}, or if the data
   *     can't be read
   */
  public Quantization.Quantized run(
      Path file,
      Map<String, Long> dims,
      Map<String, String> values,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    progress.step("reading " + file.getFileName());
    OnnxModel model = OnnxModel.read(file);
    ObservedRuns.Data data =
        new ObservedRuns.Data(
            CalibrationData.read(calibration, array, model, values.keySet(), notes),
            scaling,
            OptionalInt.of(samples),
            threads);
    Compilation.Request request =
        new Compilation.Request(file, dims, values, null, OptionalLong.empty());
    return new Quantization(notes, progress)
        .run(new Quantization.Request(request, data, settings), model);
  }

  /**
   * Returns the quantized model that is compiled in place of a model, and notes what that costs.
   *
   * @throws io.partita.ir.diagnostic.PartitaException as {@link #run}
   */
  private synchronized OnnxModel model(
      Path file,
      Map<String, Long> dims,
      Map<String, String> values,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    Given given = new Given(file, Map.copyOf(dims), Map.copyOf(values));
    OnnxModel known = quantized.get(given);
    if (known != null) {
      return known;
    }
    Quantization.Quantized made = run(file, dims, values, note -> {}, progress);
    notes.accept(note(file, made.result()));
    quantized.put(given, made.model());
    return made.model();
  }

  /** Reads a model, and quantizes it if there is a step for that. */
  public static OnnxModel read(
      Optional<QuantizationStep> step,
      Path file,
      Map<String, Long> dims,
      Map<String, String> values,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    if (step.isPresent()) {
      return step.get().model(file, dims, values, notes, progress);
    }
    progress.step("reading " + file.getFileName());
    return OnnxModel.read(file);
  }

  private static Diagnostic note(Path file, Quantization.Result result) {
    return new Diagnostic(
        QuantizeCode.QUANTIZED,
        file.toString(),
        "",
        result.layers().size() + " products of integers; " + result.summary(),
        "see the errors of each layer with 'partita quantize'");
  }
}
