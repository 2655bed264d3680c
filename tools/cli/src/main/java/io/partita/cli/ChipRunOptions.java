package io.partita.cli;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.measure.MeasuredRun;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.metalium.KernelProgram;
import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.file.OutputTarget;
import io.partita.ir.tensor.Tensor;
import io.partita.report.ProgramReport;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options for running a program for chips. */
final class ChipRunOptions {
  @Mixin ChipPortOptions ports = new ChipPortOptions();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Stop a program for chips that runs longer; by default ${DEFAULT-VALUE}.")
  int timeout = 600;

  @Option(
      names = "--json",
      description =
          "Print outputs, and the measured and predicted figures of a C program, as JSON.")
  boolean json;

  @Option(
      names = "--profile",
      description =
          "Build a program in C such that it says what each step took; print that beside what was"
              + " predicted.")
  boolean profile;

  /**
   * Returns the chosen place of TT-Metalium kernels.
   *
   * @throws io.partita.ir.diagnostic.PartitaException P6033 for ports of C programs, P5102 without
   *     ttnn or ttsim
   */
  KernelProgram.Place kernelPlace(Path folder, CommandSpec spec) {
    if (profile) {
      throw new ParameterException(
          spec.commandLine(), "--profile is for C programs: 'partita compile --target siracusa'");
    }
    return ports.kernelPlace(folder, spec);
  }

  /** Refuses these options for a Java program. */
  void requireNone(CommandSpec spec) {
    ports.requireNone(spec);
    if (profile) {
      throw new ParameterException(
          spec.commandLine(),
          "--on, --gvsoc and --profile are for C programs: 'partita compile --target siracusa'");
    }
  }

  /**
   * Builds and runs the program in a folder.
   *
   * @param anyImages whether memory images may differ from the compiled ones
   */
  int run(Path folder, Path inputs, Path outputs, boolean anyImages, CommandSpec spec) {
    Port port = ports.port(spec);
    ProgramInterface description = ChipDescription.read(folder).whole();
    List<Tensor> arguments = ChipInputs.read(inputs, description, spec.commandLine().getErr());
    Optional<PredictedRun> predicted =
        json || profile ? Optional.of(PredictedRun.read(folder)) : Optional.empty();
    BatchProgram.Result result;
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "building")) {
      Build.run(folder, port, profile ? List.of("PROFILE=1") : List.of());
      progress.step("running");
      List<Integer> steps =
          profile
              ? predicted.orElseThrow().chips().stream().map(chip -> chip.steps().size()).toList()
              : List.of();
      result =
          new BatchProgram(
                  folder, profile ? "build/profile" : "build", port, Duration.ofSeconds(timeout))
              .run(List.of(arguments), ports.options(anyImages), steps);
    }
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (ProgramInterface.Port output : description.outputs()) {
      named.put(output.name(), result.outputs().getFirst().get(named.size()));
    }
    OutputFile.write(outputs, out -> Npz.write(named, out));
    Optional<ChipRunReport> report =
        predicted.map(
            run ->
                new ChipRunReport(port, run, MeasuredRun.of(result.reports(), result.profiles())));
    report.ifPresent(
        each ->
            OutputFile.write(
                folder.resolve(ProgramReport.RUN),
                out -> out.write(Json.text(each.fields()).getBytes(StandardCharsets.UTF_8))));
    PrintWriter said =
        OutputTarget.isStandardOutput(outputs)
            ? spec.commandLine().getErr()
            : spec.commandLine().getOut();
    print(named, report, result.reports(), said);
    return ExitCode.DONE;
  }

  private void print(
      Map<String, Tensor> outputs,
      Optional<ChipRunReport> report,
      List<String> reports,
      PrintWriter out) {
    if (!json) {
      outputs.forEach((name, value) -> out.println(name + ": " + value.type()));
      report.map(ProfilePage::of).ifPresent(lines -> lines.forEach(out::println));
      return;
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("outputs", types(outputs));
    report.ifPresent(each -> all.putAll(each.fields()));
    all.put("reports", reports.stream().map(Json::parse).toList());
    out.println(Json.text(all));
  }

  /** The types of tensors by name, for JSON. */
  static Map<String, Object> types(Map<String, Tensor> tensors) {
    Map<String, Object> types = new LinkedHashMap<>();
    tensors.forEach((name, value) -> types.put(name, value.type().toString()));
    return types;
  }
}
