package io.partita.driver.evaluate;

import io.partita.driver.Compilation;
import io.partita.driver.DecoderDimensions;
import io.partita.driver.ModelFile;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.LanguageModel;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.Dim;
import io.partita.ir.type.TensorType;
import io.partita.passes.PassCode;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/** Chooses the metric for a model, and the model's dimensions for the data. */
final class MetricChoice {
  private MetricChoice() {}

  /** Returns the metric for the inputs and outputs of a program. */
  static Metric of(Path model, EvaluationData data, Scaling scaling, CompiledModel program) {
    return of(model, data, scaling, program, LanguageModel.Observer.NONE);
  }

  /** As above; the observer receives the outputs of a language model's scored tokens. */
  static Metric of(
      Path model,
      EvaluationData data,
      Scaling scaling,
      CompiledModel program,
      LanguageModel.Observer observer) {
    if (isTokens(program)) {
      return new Perplexity(data, model, new LanguageModel(program, model), observer);
    }
    if (!isClassifier(program)) {
      throw MetricCode.NO_METRIC.at(
          model.toString(),
          "a language model, from token ids i64[1,n] to logits [1,n,v]; or a classifier, from one"
              + " input to one output [1,classes]",
          "inputs "
              + LanguageModel.text(program.description().inputs())
              + "; outputs "
              + LanguageModel.text(program.description().outputs()),
          "evaluate such a model, with a batch of 1; quantize takes others with arrays named as"
              + " their inputs");
    }
    return new TopOne(data, scaling, program);
  }

  /**
   * Returns the metric of runs that are made for what they show: also of models whose quality isn't
   * known, with one input of floats, and of classifiers without labels.
   */
  static Metric observed(Path model, EvaluationData data, Scaling scaling, CompiledModel program) {
    boolean isMeasured = isTokens(program) || isClassifier(program) && data.labels().isPresent();
    return !isMeasured && FeatureRuns.features(program).isPresent()
        ? new OutputMagnitude(new FeatureRuns(data, scaling, program), Set.of())
        : of(model, data, scaling, program);
  }

  private static boolean isClassifier(CompiledModel program) {
    return program.description().inputs().size() == 1
        && program.description().outputs().size() == 1
        && program.description().states().isEmpty()
        && isScores(program.description().outputs().getFirst().type());
  }

  private static boolean isScores(TensorType type) {
    return type.element().isFloat() && type.rank() == 2 && type.dim(0).is(1);
  }

  static boolean isTokens(CompiledModel program) {
    return program.description().inputs().stream()
            .anyMatch(port -> port.type().element().isInteger() && port.type().rank() == 2)
        && program.description().outputs().stream().anyMatch(port -> port.type().rank() == 3);
  }

  /**
   * Prepares a model for the data: a dynamic sequence length that isn't given becomes that of the
   * data.
   *
   * @param prepare prepares the model of a request
   * @throws PartitaException if the model can't be prepared, with {@link MetricCode#DATA} if that
   *     is because its sequences are shorter than those of the data
   */
  static Module prepared(
      Compilation.Request request,
      EvaluationData data,
      Function<Compilation.Request, Module> prepare) {
    Compilation.Request fitted = fitted(request, data);
    try {
      return prepare.apply(fitted);
    } catch (PartitaException failure) {
      throw tooLong(request, fitted, data, failure).orElse(failure);
    }
  }

  /** Whether a model can't be prepared because of the length that the data has. */
  private static Optional<PartitaException> tooLong(
      Compilation.Request request,
      Compilation.Request fitted,
      EvaluationData data,
      PartitaException failure) {
    Diagnostic first = failure.diagnostics().getFirst();
    if (!fitted.capacity().equals(request.capacity())) {
      String past = DecoderDimensions.cache(OnnxModel.read(request.model())).iterator().next();
      return first.code() == PassCode.CAPACITY_BEYOND_MODEL
          ? Optional.of(
              tooLong(data, first, first.remedy().replace("--kv-capacity ", "--dim " + past + "=")))
          : Optional.empty();
    }
    if (fitted.dims().equals(request.dims())) {
      return Optional.empty();
    }
    OnnxModel model = OnnxModel.read(request.model());
    ImportResult imported = ModelFile.explained(model, fitted.dims(), fitted.values());
    boolean isUsable =
        ModelFile.explained(model, request.dims(), request.values()).module().isPresent();
    if (imported.module().isPresent() || !isUsable) {
      return Optional.empty();
    }
    Diagnostic cause = imported.diagnostics().getFirst();
    return Optional.of(tooLong(data, cause, cause.remedy()));
  }

  private static PartitaException tooLong(EvaluationData data, Diagnostic cause, String remedy) {
    return MetricCode.DATA.at(
        data.where(),
        "sequences that are no longer than those that the model takes",
        "%d tokens in each sequence, but %s: expected %s, found %s"
            .formatted(data.length(), cause.where(), cause.expected(), cause.found()),
        remedy.startsWith("choose --dim")
            ? remedy + ", which cuts sequences into windows"
            : "give shorter sequences");
  }

  private static Compilation.Request fitted(Compilation.Request model, EvaluationData data) {
    boolean isText = PirFile.isPir(model.model());
    boolean isTokens = data.samples().element().isInteger() && data.samples().shape().rank() == 2;
    boolean isFeatures = data.samples().element().isFloat() && data.samples().shape().rank() == 3;
    if (isText || !isTokens && !isFeatures) {
      return model;
    }
    // The last token of a text is only predicted.
    long length = isTokens ? Math.max(1, data.length() - 1) : data.samples().shape().extent(1);
    OnnxModel onnx = OnnxModel.read(model.model());
    Set<String> caches = DecoderDimensions.cache(onnx);
    if (!caches.isEmpty()) {
      boolean isGiven =
          model.capacity().isPresent()
              || model.passes() != null
              || caches.stream().anyMatch(model.dims()::containsKey);
      return isGiven ? model : model.withCapacity(OptionalLong.of(length));
    }
    Map<String, Long> dims = new LinkedHashMap<>(model.dims());
    for (TensorType input : onnx.inputTypes().values()) {
      Dim open = input.rank() == 2 && input.element().isInteger() ? input.dim(1) : Dim.ONE;
      if (open.isSymbol()) {
        dims.putIfAbsent(open.toString(), length);
      }
    }
    return model.with(dims);
  }
}
