package io.partita.driver.evaluate;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.driver.Compilation;
import io.partita.driver.DecoderDimensions;
import io.partita.driver.ModelFile;
import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.NamedArrays;
import io.partita.driver.text.CompiledModel;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Samples of all inputs of a model, in arrays of their names. Caches are inputs and outputs like
 * others; those of dynamic length are empty if the file has none of them.
 *
 * @param where the file, for diagnostics
 * @param arrays the arrays by the inputs' names
 * @param unmeasured the outputs that the metric leaves out
 */
public record InputSamples(String where, Map<String, Tensor> arrays, Set<String> unmeasured)
    implements CalibrationData {
  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.driver.DriverCode#CASE_MISMATCH} if an input has no array, with {@link
   *     MetricCode#DATA} if an array has NaN
   */
  static InputSamples of(
      Path file,
      Map<String, Tensor> arrays,
      OnnxModel model,
      Set<String> bound,
      Consumer<Diagnostic> notes) {
    NamedArrays named = NamedArrays.of(file.toString(), arrays);
    Map<String, TensorType> inputs = inputs(model, bound);
    List<NamedArrays.Wanted> wanted =
        inputs.entrySet().stream()
            .map(input -> new NamedArrays.Wanted(input.getKey(), input.getValue()))
            .toList();
    Set<String> lengths = DecoderDimensions.cache(model);
    List<NamedArrays.Wanted> caches =
        wanted.stream().filter(input -> isCache(lengths, input.type())).toList();
    boolean areEmpty = caches.stream().noneMatch(input -> arrays.containsKey(input.name()));
    named.requireNames(
        wanted.stream().filter(input -> !areEmpty || !caches.contains(input)).toList());
    named.noteUnused(wanted).ifPresent(notes);
    Map<String, Tensor> used = new LinkedHashMap<>(arrays);
    used.keySet().retainAll(inputs.keySet());
    used.forEach((name, array) -> requireNumbers(file + ", array '" + name + "'", array));
    return new InputSamples(file.toString(), used, Set.of());
  }

  /** The types of the model's inputs in its order, without those that are bound to a value. */
  private static Map<String, TensorType> inputs(OnnxModel model, Set<String> bound) {
    Map<String, TensorType> types = model.inputTypes();
    Map<String, TensorType> inputs = new LinkedHashMap<>();
    for (String name : model.inputNames()) {
      if (types.containsKey(name) && !bound.contains(name)) {
        inputs.put(name, types.get(name));
      }
    }
    return inputs;
  }

  private static boolean isCache(Set<String> lengths, TensorType input) {
    return input.rank() > 2
        && input.shape().dims().stream()
            .anyMatch(dim -> dim.isSymbol() && lengths.contains(dim.toString()));
  }

  private static void requireNumbers(String where, Tensor array) {
    for (int i = 0; array.element().isFloat() && i < array.size(); i++) {
      if (Double.isNaN(array.getDouble(i))) {
        throw MetricCode.DATA.at(
            where + ", element " + i, "numbers", "NaN", "leave the sample out, or save it again");
      }
    }
  }

  @Override
  public Module prepared(
      Compilation.Request request,
      OnnxModel model,
      Consumer<Diagnostic> notes,
      ProgressListener progress) {
    Map<String, TensorType> inputs = inputs(model, request.values().keySet());
    SampleShapes shapes = new SampleShapes(where, inputs, request.dims(), arrays);
    Map<String, Tensor> first = new LinkedHashMap<>();
    inputs.forEach(
        (name, type) ->
            first.put(
                name,
                arrays.containsKey(name)
                    ? sample(name, type.with(shapes.of(name)), 0)
                    : Tensor.filled(type.with(shapes.empty(type.shape())), 0)));
    Module imported =
        ModelFile.examine(model, Map.of(), request.values(), CaseRunner.options(model, first))
            .orThrow();
    Set<String> varied =
        imported.graph().inputs().stream().map(Value::name).collect(Collectors.toSet());
    arrays.keySet().stream()
        .filter(name -> !varied.contains(name))
        .forEach(name -> requireEqual(name, first.get(name).type(), shapes.count()));
    return StandardPasses.usual()
        .run(
            imported,
            (pass, before, after) -> progress.step("running passes, after " + pass.name()));
  }

  /** Requires an input whose value determines shapes to be the same in all samples. */
  private void requireEqual(String name, TensorType type, int count) {
    for (int i = 1; i < count; i++) {
      if (!sample(name, type, i).equals(sample(name, type, 0))) {
        throw MetricCode.DATA.at(
            where + ", array '" + name + "', sample " + i,
            "the value of the first sample, since it determines shapes",
            "another",
            "give samples with one value of this input");
      }
    }
  }

  @Override
  public Metric metric(Path model, Scaling scaling, CompiledModel program) {
    if (!scaling.equals(Scaling.NONE)) {
      throw MetricCode.DATA.at(
          where,
          "inputs as the model takes them",
          "a mean or deviation to scale them by",
          "scale the arrays, and leave out mean and std");
    }
    List<ProgramInterface.Port> inputs = program.description().inputs();
    int count = inputs.stream().mapToInt(port -> count(port.name(), port.type())).max().orElse(1);
    return new OutputMagnitude(
        new SampleRuns() {
          @Override
          public int samples() {
            return count;
          }

          @Override
          public int runs() {
            return 1;
          }

          @Override
          public List<Tensor> inputs(int sample, int run) {
            return inputs.stream().map(port -> sample(port.name(), port.type(), sample)).toList();
          }
        },
        unmeasured);
  }

  /** The number of samples of an input; one that serves all is one. */
  private int count(String name, TensorType type) {
    long elements = type.shape().elements();
    return elements == 0 ? 1 : Math.toIntExact(arrays.get(name).size() / elements);
  }

  /** Returns a sample of an array, in the type of the input. */
  private Tensor sample(String name, TensorType type, int sample) {
    if (type.shape().elements() == 0) {
      return Tensor.filled(type, 0);
    }
    Tensor array = arrays.get(name);
    TensorType part = array.type().with(type.shape());
    int at = sample % count(name, type);
    Tensor given = array.stretch(part, at * part.bytes());
    return NamedArrays.converted(new NamedArrays.Wanted(name, type), given);
  }

  @Override
  public CalibrationData without(Set<String> caches) {
    return new InputSamples(where, arrays, caches);
  }

  @Override
  public CalibrationData quantized(Map<String, Affine> caches) {
    Map<String, Tensor> all = new LinkedHashMap<>(arrays);
    caches.forEach((name, code) -> all.computeIfPresent(name, (same, cache) -> coded(cache, code)));
    return new InputSamples(where, all, unmeasured);
  }

  private static Tensor coded(Tensor cache, Affine code) {
    long[] integers = new long[cache.size()];
    for (int i = 0; i < integers.length; i++) {
      integers[i] = code.integer(cache.getDouble(i));
    }
    return Tensor.ofLongs(cache.type().with(ElementType.I8), integers);
  }
}
