package io.partita.driver.cases;

import io.partita.driver.DriverCode;
import io.partita.driver.MemoryLimit;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Runs test cases and compares. The shapes of the recorded inputs bind the model's dynamic
 * dimensions, and an input whose value determines a shape is bound to its recorded value.
 */
public final class CaseRunner {
  private final ModuleRunner runner;
  private final Pipeline pipeline;
  private final Tolerance tolerance;

  public CaseRunner(ModuleRunner runner, Pipeline pipeline, Tolerance tolerance) {
    this.runner = runner;
    this.pipeline = pipeline;
    this.tolerance = tolerance;
  }

  /** Never throws for a faulty case, but returns a result. */
  public CaseResult run(TestCase test) {
    try {
      OnnxModel model = OnnxModel.read(test.model());
      double maxError = 0;
      String note = "";
      for (RecordedRun run : test.runs()) {
        Comparison worst = run(model, run);
        maxError = Math.max(maxError, worst.maxError());
        note = worst.note().isEmpty() ? note : worst.note();
        if (!worst.passes()) {
          String where = run.name().isEmpty() ? "" : run.name() + ", ";
          return new CaseResult(
              test.name(),
              CaseResult.Status.FAIL,
              where + worst.message(),
              List.of(),
              worst.maxError());
        }
      }
      return new CaseResult(test.name(), CaseResult.Status.PASS, note, List.of(), maxError);
    } catch (PartitaException told) {
      return told(test, CaseResult.Status.UNSUPPORTED, told.diagnostics());
    } catch (OutOfMemoryError full) {
      return told(
          test, CaseResult.Status.UNSUPPORTED, List.of(MemoryLimit.diagnostic(test.name())));
    } catch (RuntimeException | AssertionError | StackOverflowError bug) {
      // The other cases still run.
      Diagnostic internal =
          new Diagnostic(
              DriverCode.INTERNAL, test.name(), "", bug.toString(), "report it, with the case");
      return told(test, CaseResult.Status.FAIL, List.of(internal));
    }
  }

  private static CaseResult told(
      TestCase test, CaseResult.Status status, List<Diagnostic> diagnostics) {
    return new CaseResult(
        test.name(),
        status,
        diagnostics.stream().map(CaseRunner::summary).collect(Collectors.joining("; ")),
        diagnostics.stream().map(diagnostic -> diagnostic.code().id()).toList(),
        0);
  }

  private static String summary(Diagnostic diagnostic) {
    String found = diagnostic.found().isEmpty() ? "" : ": " + diagnostic.found();
    String where = diagnostic.where().isEmpty() ? "" : " (" + diagnostic.where() + ")";
    return diagnostic.code().id() + " " + diagnostic.code().title() + found + where;
  }

  private Comparison run(OnnxModel model, RecordedRun run) {
    Map<String, Tensor> recorded = run.inputsFor(model.inputNames());
    ImportOptions options = options(model, recorded);
    boolean isIntegral = run.isArchive() && run.isIntegral(model.inputNames());
    if (isIntegral) {
      options = options.withIntegerData();
    }
    Map<String, Tensor> outputs;
    try (PreparedModel prepared = prepare(model, options, isIntegral ? recorded : Map.of())) {
      outputs = prepared.run(recorded);
    }
    Map<String, Tensor> expected = run.outputsFor(List.copyOf(outputs.keySet()));
    Comparison worst = new Comparison(0, 0, "");
    for (Map.Entry<String, Tensor> output : outputs.entrySet()) {
      Tensor record = expected.get(output.getKey());
      Tensor found = output.getValue();
      if (RecordedRun.sameBut1(record.shape(), found.shape())) {
        record = record.reshaped(found.shape());
      }
      Comparison comparison = Comparison.of(output.getKey(), record, found, tolerance);
      worst = comparison.worst() > worst.worst() ? comparison : worst;
    }
    if (worst.passes() || isIntegral) {
      return worst;
    }
    Comparison plain = worst;
    Recording recording = new Recording(model, options, recorded, expected, outputs, tolerance);
    Comparison explained =
        KnownDeviations.explain(recording, plain)
            .orElseGet(() -> AmplifiedRounding.explain(recording, plain));
    boolean isForgiven = explained.passes() && tolerance.isChosen();
    return isForgiven ? plain.with("; " + explained.note()) : explained;
  }

  /**
   * Imports a model, runs the passes and prepares it.
   *
   * @param inputs by name, to bind the model's dimensions
   * @throws PartitaException if the model isn't supported
   */
  public PreparedModel prepare(OnnxModel model, Map<String, Tensor> inputs) {
    return prepare(model, options(model, inputs), Map.of());
  }

  /**
   * @param integers what inputs are to be as narrow as
   */
  private PreparedModel prepare(
      OnnxModel model, ImportOptions options, Map<String, Tensor> integers) {
    ImportResult imported = new OnnxImporter(options).examine(model);
    Module narrow = NarrowInputs.of(imported.orThrow(), integers);
    Module module = pipeline.run(narrow, (pass, before, after) -> {});
    return new PreparedModel(module.graph(), runner.prepare(module));
  }

  private static ImportOptions options(OnnxModel model, Map<String, Tensor> recorded) {
    Map<String, TensorType> declared = model.inputTypes();
    ImportOptions options =
        ImportOptions.NONE.bindShapeInputs(
            name ->
                Optional.ofNullable(recorded.get(name))
                    .map(data -> RecordedRun.fit(name, data, declared.get(name))));
    for (Map.Entry<String, Tensor> input : recorded.entrySet()) {
      TensorType type = declared.get(input.getKey());
      if (type == null || !type.isStatic()) {
        options = options.withShape(input.getKey(), input.getValue().shape());
      }
    }
    return options;
  }
}
