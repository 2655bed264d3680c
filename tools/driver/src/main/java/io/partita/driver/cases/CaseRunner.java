package io.partita.driver.cases;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.driver.DriverCode;
import io.partita.driver.MemoryLimit;
import io.partita.driver.Sharding;
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
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * Runs test cases and compares. The shapes of the recorded inputs bind the model's dynamic
 * dimensions, and an input whose value determines a shape is bound to its recorded value.
 */
public final class CaseRunner {
  private final ModuleRunner runner;
  private final Pipeline pipeline;
  private final Tolerance tolerance;
  private final Optional<Sharding> sharding;

  public CaseRunner(ModuleRunner runner, Pipeline pipeline, Tolerance tolerance) {
    this(runner, pipeline, tolerance, Optional.empty());
  }

  /**
   * A runner that knows the distribution.
   *
   * @param sharding as {@code runner} distributes modules. If it rewrites syncs, programs are
   *     compared with the evaluation of the rewritten module
   */
  public CaseRunner(
      ModuleRunner runner, Pipeline pipeline, Tolerance tolerance, Optional<Sharding> sharding) {
    this.runner = runner;
    this.pipeline = pipeline;
    this.tolerance = tolerance;
    this.sharding = sharding;
  }

  /**
   * Never throws for a faulty case, but returns a result.
   *
   * @throws PartitaException if this computer lacks what running the case needs, such as a compiler
   *     or space; that says nothing about the case
   */
  public CaseResult run(TestCase test) {
    try {
      OnnxModel model = OnnxModel.read(test.model());
      double maxError = 0;
      String note = "";
      OptionalDouble rewriteError = OptionalDouble.empty();
      for (RecordedRun run : test.runs()) {
        Comparison worst = run(model, run);
        maxError = Math.max(maxError, worst.maxError());
        note = worst.note().isEmpty() ? note : worst.note();
        if (worst.rewriteError().orElse(0) >= rewriteError.orElse(0)) {
          rewriteError = worst.rewriteError();
        }
        if (!worst.passes()) {
          String where = run.name().isEmpty() ? "" : run.name() + ", ";
          return new CaseResult(
              test.name(),
              CaseResult.Status.FAIL,
              where + worst.message(),
              List.of(),
              worst.maxError(),
              worst.rewriteError());
        }
      }
      return new CaseResult(
          test.name(), CaseResult.Status.PASS, note, List.of(), maxError, rewriteError);
    } catch (PartitaException told) {
      if (told.diagnostics().stream().anyMatch(each -> each.code().isOfComputer())) {
        throw told;
      }
      boolean isFaulty =
          told.diagnostics().stream().anyMatch(each -> each.code().isOfEmittedCode());
      return told(
          test,
          isFaulty ? CaseResult.Status.FAIL : CaseResult.Status.UNSUPPORTED,
          told.diagnostics());
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
    try (PreparedModel prepared = prepare(model, options, isIntegral ? recorded : Map.of())) {
      Map<String, Tensor> outputs = prepared.run(recorded);
      Map<String, Tensor> expected = run.outputsFor(List.copyOf(outputs.keySet()));
      Comparison worst = Comparison.worst(expected, outputs, tolerance);
      Optional<RewrittenModel> rewritten = prepared.rewritten();
      if (rewritten.isPresent()) {
        return rewritten.get().judge(worst, recorded, expected, outputs, tolerance.isChosen());
      }
      if (worst.passes() || isIntegral) {
        return worst;
      }
      Recording recording = new Recording(model, options, recorded, expected, outputs, tolerance);
      return tolerance.isChosen()
          ? explained(recording, worst)
          : prepared
              .compareSteps(recorded)
              .map(launches -> ofSteps(launches, prepared, recording, worst))
              .orElseGet(() -> explained(recording, worst));
    }
  }

  /** The comparison of a program that computes with fewer bits than the recorded run. */
  private Comparison ofSteps(
      ProbeComparison.Result launches,
      PreparedModel prepared,
      Recording recording,
      Comparison plain) {
    Map<String, Tensor> exact = prepared.evaluated(recording.inputs());
    Comparison evaluated = Comparison.worst(recording.expected(), exact, tolerance);
    if (!evaluated.passes()) {
      evaluated = explained(recording.of(exact), evaluated);
    }
    return CoarseArithmetic.explain(plain, launches, evaluated, recording, exact);
  }

  /**
   * Compares a program's outputs with the expected ones as {@link #run(TestCase)} does: a
   * difference that rounding explains passes with a note, unless the tolerance was chosen.
   *
   * @param inputs by name, which bind the model's dimensions
   * @param expected by name
   * @param found by name
   */
  public Comparison compare(
      OnnxModel model,
      Map<String, Tensor> inputs,
      Map<String, Tensor> expected,
      Map<String, Tensor> found) {
    Comparison plain = Comparison.worst(expected, found, tolerance);
    return plain.passes()
        ? plain
        : explained(
            new Recording(model, options(model, inputs), inputs, expected, found, tolerance),
            plain);
  }

  private Comparison explained(Recording recording, Comparison plain) {
    Comparison explained =
        KnownDeviations.explain(recording, plain)
            .orElseGet(() -> AmplifiedRounding.explain(recording, plain));
    if (!explained.passes()) {
      explained = KnownDeviations.explainSaturation(recording, plain).orElse(explained);
    }
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
   * @param integers what inputs are to be as narrow as, and outputs as narrow as follows from them
   */
  private PreparedModel prepare(
      OnnxModel model, ImportOptions options, Map<String, Tensor> integers) {
    ImportResult imported = new OnnxImporter(options).examine(model);
    Module narrow = NarrowTypes.of(imported.orThrow(), integers);
    Module module = pipeline.run(narrow, (pass, before, after) -> {});
    ModuleRunner.Prepared program = runner.prepare(module);
    Optional<RewrittenModel> rewritten =
        RewrittenModel.of(sharding.map(chosen -> chosen.run(module)).orElse(module));
    return new PreparedModel(module.graph(), program, rewritten);
  }

  /**
   * Options of an import that bind the model's dimensions to the shapes of recorded inputs, and an
   * input whose value determines a shape to its recorded value.
   */
  public static ImportOptions options(OnnxModel model, Map<String, Tensor> recorded) {
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
