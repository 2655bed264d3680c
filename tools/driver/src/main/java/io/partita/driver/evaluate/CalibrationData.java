package io.partita.driver.evaluate;

import io.partita.driver.Compilation;
import io.partita.driver.npz.Npz;
import io.partita.driver.text.CompiledModel;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Samples on which a model runs for what it shows: one array, or arrays of all of its inputs. */
public sealed interface CalibrationData permits EvaluationData, InputSamples {
  /**
   * Reads a file: the array of a name, or else the arrays that are named as the model's inputs.
   *
   * @param bound the inputs that need no arrays, since they are bound to values
   * @param notes receives a note on arrays that aren't used
   * @throws io.partita.ir.diagnostic.PartitaException when it can't be read, with {@link
   *     MetricCode#ARRAY} when it has neither, with {@link MetricCode#DATA} when an array is empty
   *     or has numbers that aren't finite
   */
  static CalibrationData read(
      Path file, String name, OnnxModel model, Set<String> bound, Consumer<Diagnostic> notes) {
    Map<String, Tensor> arrays = Npz.read(file);
    List<String> inputs = model.inputNames();
    if (arrays.containsKey(name) || inputs.stream().noneMatch(arrays::containsKey)) {
      String others = ", or arrays named as the model's inputs: " + String.join(", ", inputs);
      return EvaluationData.of(file, arrays, name, others);
    }
    return InputSamples.of(file, arrays, model, bound, notes);
  }

  /**
   * Prepares a model for a program that takes the samples.
   *
   * @param request the options of the model
   * @param model the model, which may be changed
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be prepared, or the samples don't
   *     fit it
   */
  Module prepared(
      Compilation.Request request,
      OnnxModel model,
      Consumer<Diagnostic> notes,
      ProgressListener progress);

  /**
   * Returns the metric of a program of the prepared model.
   *
   * @param model the file, for diagnostics
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetricCode} if the samples don't
   *     fit it
   */
  Metric metric(Path model, Scaling scaling, CompiledModel program);

  /** Returns the samples with a metric that leaves out outputs of caches, which become integers. */
  CalibrationData without(Set<String> caches);

  /** Returns the samples of a model whose inputs of caches are integers. */
  CalibrationData quantized(Map<String, Affine> caches);
}
