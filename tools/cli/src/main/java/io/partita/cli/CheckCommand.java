package io.partita.cli;

import io.partita.backend.emitted.run.GvsocPython;
import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.MetaliumRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.MetaliumTarget;
import io.partita.driver.plan.DeviceSelection;
import io.partita.ir.file.ScratchFolder;
import io.partita.passes.Pipeline;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs recorded test cases. */
@Command(
    name = "check",
    description = {
      "Run recorded test cases and compare the results.",
      "A case is a folder with model.onnx and test_data_set_*/{input,output}_*.pb, or with"
          + " network.onnx, inputs.npz and outputs.npz. Each case gets a line: PASS, FAIL or"
          + " UNSUPPORTED.",
      "Integers must be equal, and floats within the tolerances: by default 1e-3 relative and 1e-5"
          + " absolute for f32 (2^-9 and 2^-10 for f16, 2^-6 and 2^-7 for bf16, 1e-3 and 1e-7 for"
          + " f64). The exit code is 1 if a case fails.",
      "A difference that rounding explains passes with a note, unless --rtol or --atol is given.",
      "A --sync that isn't exact changes results. The emitted code is then compared with the"
          + " reference evaluation of the model with these syncs. The difference from the recorded"
          + " results is printed, and fails a case only if it exceeds --rtol or --atol.",
      "With --devices the emitted code runs, each device as a thread; for siracusa as a process."
    })
final class CheckCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "PATH",
      arity = "1..*",
      description = "The folder of a case, or a folder above cases.")
  List<Path> paths;

  @Option(
      names = "--target",
      paramLabel = "TARGET",
      description =
          "Run the code that is emitted for this target (${COMPLETION-CANDIDATES}) instead of the"
              + " reference evaluator.",
      completionCandidates = TargetNames.class)
  String target;

  @Option(
      names = "--passes",
      paramLabel = "PIPELINE",
      description =
          "Passes to run first; by default none for the evaluator and those of 'compile' for a"
              + " target.")
  String passes;

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Mixin SyncOptions syncs = new SyncOptions();

  @Mixin SpeculateOptions speculation = new SpeculateOptions();

  @Mixin TargetOptions settings = new TargetOptions();

  @Option(
      names = "--on",
      paramLabel = "PORT",
      description =
          "Where code for chips runs: C on the host, TT-Metalium kernels on the emulation (the"
              + " default) or on ttsim.")
  RunPlace on;

  @Option(
      names = GvsocPython.OPTION,
      paramLabel = "PROGRAM",
      description = "The Python that has ttnn, for --on ttsim; by default python3.")
  String python;

  @Mixin TtsimOptions ttsim = new TtsimOptions();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Stop TT-Metalium kernels that run longer; by default ${DEFAULT-VALUE}.")
  int timeout = 600;

  @Option(names = "--rtol", paramLabel = "X", description = "Relative tolerance for floats.")
  Double relative;

  @Option(names = "--atol", paramLabel = "X", description = "Absolute tolerance for floats.")
  Double absolute;

  @Option(names = "--json", description = "Print one JSON object instead of lines.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    // What the runtime of ttnn compiles serves all cases.
    try (ScratchFolder work = new ScratchFolder()) {
      return check(work.path());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int check(Path work) {
    Target usual = devices.selection().isEmpty() ? Target.EVALUATOR : Target.JAVA;
    Target chosen = target == null ? usual : Target.of(target);
    DeviceSelection selection =
        devices.selection().orElse(chosen.usualDevices(target == null ? "" : target));
    Optional<Sharding> sharding = syncs.selection(speculation).sharding(selection.chosen());
    Pipeline pipeline =
        passes == null
            ? StandardPasses.forChecking(chosen)
            : Pipeline.parse(passes, StandardPasses.REGISTRY);
    Tolerance tolerance = new Tolerance(bound("--rtol", relative), bound("--atol", absolute));
    CaseRunner runner =
        new CaseRunner(runner(chosen, sharding, work), pipeline, tolerance, sharding);
    List<TestCase> cases = paths.stream().flatMap(path -> TestCase.find(path).stream()).toList();
    List<CaseResult> results = new ArrayList<>();
    PrintWriter out = spec.commandLine().getOut();
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "starting")) {
      for (TestCase test : cases) {
        progress.step("checking " + test.name(), results.size(), cases.size());
        CaseResult result = runner.run(test);
        results.add(result);
        if (!json) {
          progress.print(out, result.line());
        }
      }
    }
    long failed = count(results, CaseResult.Status.FAIL);
    out.println(json ? Json.text(report(results)) : totals(results));
    return failed > 0 ? ExitCode.CHECK_FAILED : ExitCode.DONE;
  }

  /**
   * @param work the folder for what the runtime of ttnn compiles
   */
  private ModuleRunner runner(Target chosen, Optional<Sharding> sharding, Path work) {
    if (chosen.isTenstorrent()) {
      return kernels(sharding, work);
    }
    boolean isChip = chosen == Target.SIRACUSA;
    ttsim.verify(on, spec);
    if (on != null) {
      on.requireOther(
          isChip ? "a program in C" : "no code for chips", "choose --target n150 or n300");
    }
    if (on != null && on != RunPlace.HOST) {
      throw new ParameterException(
          spec.commandLine(),
          "check runs emitted C on host only; use 'partita run' for other ports");
    }
    if (!isChip && (!settings.settings().isEmpty() || on != null)) {
      throw new ParameterException(
          spec.commandLine(), "--set and --on need a target of chips: --target siracusa or n150");
    }
    if (python != null) {
      throw new ParameterException(
          spec.commandLine(), GvsocPython.OPTION + " goes with --on ttsim");
    }
    return isChip
        ? chosen.with(new Target.Options(target, settings.settings())).runner(sharding)
        : chosen.runner(sharding);
  }

  private ModuleRunner kernels(Optional<Sharding> sharding, Path work) {
    ttsim.verify(on, spec);
    if (on != null) {
      on.requireKernels("--target " + target);
    }
    return new MetaliumRunner(
        MetaliumTarget.of(target, settings.settings()),
        sharding,
        ttsim.place(on, python, work, spec),
        Duration.ofSeconds(timeout));
  }

  private OptionalDouble bound(String option, Double value) {
    if (value == null) {
      return OptionalDouble.empty();
    }
    if (!Tolerance.isBound(value)) {
      throw new ParameterException(
          spec.commandLine(), option + " takes a finite number of 0 or more, not " + value);
    }
    return OptionalDouble.of(value);
  }

  private static long count(List<CaseResult> results, CaseResult.Status status) {
    return results.stream().filter(result -> result.status() == status).count();
  }

  private static String totals(List<CaseResult> results) {
    return "%d passed, %d failed, %d unsupported"
        .formatted(
            count(results, CaseResult.Status.PASS),
            count(results, CaseResult.Status.FAIL),
            count(results, CaseResult.Status.UNSUPPORTED));
  }

  private static Map<String, Object> report(List<CaseResult> results) {
    List<Map<String, Object>> cases = new ArrayList<>();
    for (CaseResult result : results) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("name", result.name());
      entry.put("status", result.status().name());
      entry.put("detail", result.detail());
      entry.put("codes", result.codes());
      entry.put("maxError", Double.isFinite(result.maxError()) ? result.maxError() : null);
      result.rewriteError().ifPresent(error -> entry.put("rewriteError", error));
      cases.add(entry);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("cases", cases);
    report.put("passed", count(results, CaseResult.Status.PASS));
    report.put("failed", count(results, CaseResult.Status.FAIL));
    report.put("unsupported", count(results, CaseResult.Status.UNSUPPORTED));
    return report;
  }
}
