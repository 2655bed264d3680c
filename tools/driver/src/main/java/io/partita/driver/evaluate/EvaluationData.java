package io.partita.driver.evaluate;

import io.partita.driver.Compilation;
import io.partita.driver.npz.Npz;
import io.partita.driver.text.CompiledModel;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * One array of a NumPy archive, whose first dimension counts samples.
 *
 * @param where the file and the array, for diagnostics
 * @param samples such as token ids {@code [n, length]}, or images {@code [n, ...]}
 * @param labels {@code [n]}, the array with the suffix {@code _labels}, if it exists
 */
public record EvaluationData(String where, String name, Tensor samples, Optional<Tensor> labels)
    implements CalibrationData {
  private static final String LABELS = "_labels";

  /**
   * @throws io.partita.ir.diagnostic.PartitaException when it can't be read, with {@link
   *     MetricCode#ARRAY} when it isn't there, with {@link MetricCode#DATA} when it is empty or has
   *     numbers that aren't finite
   */
  public static EvaluationData read(Path file, String name) {
    return of(file, Npz.read(file), name, "");
  }

  /**
   * As {@link #read}, for the arrays of a file.
   *
   * @param others what else they might be, for diagnostics
   */
  static EvaluationData of(Path file, Map<String, Tensor> arrays, String name, String others) {
    String where = file + ", array '" + name + "'";
    Tensor samples = arrays.get(name);
    if (samples == null) {
      List<String> names = List.copyOf(arrays.keySet());
      throw MetricCode.ARRAY.at(
          file.toString(),
          "an array named '" + name + "'" + others,
          names.isEmpty() ? "no array" : "the arrays " + String.join(", ", names),
          NearestName.of(name, names)
              .or(() -> names.stream().findFirst())
              .map(near -> "name the array to evaluate: --array " + near)
              .orElse("save it with numpy.savez('data.npz', " + name + "=…)"));
    }
    if (samples.shape().rank() < 2 || samples.size() == 0) {
      throw MetricCode.DATA.at(
          where,
          "at least one sample: token ids [n, length], or images [n, ...]",
          samples.type(),
          "name another array with --array");
    }
    EvaluationData data =
        new EvaluationData(where, name, samples, Optional.ofNullable(arrays.get(name + LABELS)));
    data.requireFinite();
    return data;
  }

  private void requireFinite() {
    for (int i = 0; samples.element().isFloat() && i < samples.size(); i++) {
      if (!Double.isFinite(samples.getDouble(i))) {
        throw MetricCode.DATA.at(
            where + ", sample " + i / length() + ", element " + i % length(),
            "finite numbers",
            samples.getDouble(i),
            "leave the sample out, or save the array again");
      }
    }
  }

  @Override
  public Module prepared(
      Compilation.Request request,
      OnnxModel model,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    return MetricChoice.prepared(
        request, this, fitted -> new Compilation(notes, progress).prepare(fitted, model));
  }

  @Override
  public Metric metric(Path model, Scaling scaling, CompiledModel program) {
    return MetricChoice.observed(model, this, scaling, program);
  }

  /** Returns this data: a decoder that takes it keeps its caches itself. */
  @Override
  public CalibrationData without(Set<String> caches) {
    return this;
  }

  /** Returns this data, as {@link #without}. */
  @Override
  public CalibrationData quantized(Map<String, Affine> caches) {
    return this;
  }

  int count() {
    return Math.toIntExact(samples.shape().dim(0).value());
  }

  /** The elements of a sample. */
  int length() {
    return samples.size() / count();
  }

  /** Whether a sample has the extents of an input, apart from those of 1. */
  boolean fits(TensorType input) {
    return extents(samples.shape(), 1).equals(extents(input.shape(), 0));
  }

  /** Whether a sample is a series of runs, each with the features of an input. */
  boolean isSeries(TensorType input) {
    boolean isWhole = length() % input.shape().elements() == 0;
    return isWhole && samples.shape().fromEnd(0).equals(input.shape().fromEnd(0));
  }

  /** Returns the diagnostic for samples of a shape that a model doesn't take. */
  PartitaException misfit(String expected) {
    return MetricCode.DATA.at(
        where,
        expected,
        "samples of " + samples.shape().range(1, samples.shape().rank()) + ": " + samples.type(),
        "name the array of the model's inputs with --array, in their shape");
  }

  private static List<Dim> extents(Shape shape, int from) {
    return IntStream.range(from, shape.rank())
        .mapToObj(shape::dim)
        .filter(extent -> !extent.is(1))
        .toList();
  }

  /** The name of the array of labels, which need not exist. */
  String labelsName() {
    return name + LABELS;
  }
}
