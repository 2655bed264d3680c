package io.partita.cli;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.probe.Finding;
import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.java.JavaDescription;
import io.partita.backend.metalium.KernelComparison;
import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.MetaliumDescription;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.ir.tensor.Tensor;
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

/** Reports the first step of a program for chips that differs from the reference. */
@Command(
    name = "diff",
    description = {
      "Run a compiled program for chips with probes, and report the first chip, step and element"
          + " that differ from the Java reference: of C, or of TT-Metalium kernels.",
      "Each step is compared by itself with the reference, applied to the chip's data before the"
          + " step; so are messages of collectives. The exit code is 1 if something diverges, or a chip"
          + " stops or waits for"
          + " ever."
    })
final class DiffCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "DIR",
      description = "A folder that 'partita compile' wrote for siracusa, n150 or n300.")
  Path folder;

  @Option(
      names = "--inputs",
      required = true,
      paramLabel = "FILE",
      description = "The inputs (.npz), by name or in the program's order.")
  Path inputs;

  @Mixin ChipPortOptions ports = new ChipPortOptions();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "Stop a program that runs longer, and report where it is; by default 120, on ttsim 600.")
  Integer timeout;

  @Option(
      names = "--transfers",
      paramLabel = "WHEN",
      description =
          "When emulated transfers copy: when they are awaited (late, the default), or when they"
              + " start (early).")
  String transfers;

  @Option(
      names = "--tolerance",
      paramLabel = "X",
      description =
          "The tolerance for f32, relative to an element and to the largest of its tensor; by default"
              + " 1e-5; for TT-Metalium kernels on the emulation derived for each element, and 2^-8 on"
              + " ttsim. Integers must be equal.")
  Double tolerance;

  @Option(names = "--json", description = "Print one JSON object instead of lines.")
  boolean json;

  @Spec CommandSpec spec;

  /** Seconds that a program may take. */
  private static final int USUAL = 120;

  /** Likewise, if its first run compiles all kernels. */
  private static final int COMPILING = 600;

  @Override
  public Integer call() {
    FolderOptions.noteChanges(folder, spec);
    if (JavaDescription.isIn(folder)) {
      throw new ParameterException(
          spec.commandLine(),
          folder
              + " holds a program in Java; diff compares the steps of chips, of programs that"
              + " 'partita compile' wrote with --target siracusa, n150 or n300");
    }
    ProbeComparison.Result result =
        MetaliumDescription.isIn(folder) ? kernels() : onPort(ports.port(spec));
    if (json) {
      spec.commandLine().getOut().println(Json.text(report(result)));
    } else {
      lines(result).forEach(spec.commandLine().getOut()::println);
    }
    return result.finding().isPresent() ? ExitCode.CHECK_FAILED : ExitCode.DONE;
  }

  private ProbeComparison.Result kernels() {
    KernelProgram.Place place = ports.kernelPlace(folder, spec);
    if (transfers != null) {
      throw new ParameterException(
          spec.commandLine(), "--transfers is for C programs: 'partita compile --target siracusa'");
    }
    ProgramInterface description = MetaliumDescription.read(folder).whole();
    List<Tensor> arguments = ChipInputs.read(inputs, description, spec.commandLine().getErr());
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "starting")) {
      progress.step("building and running with probes");
      KernelProgram program = place.open(folder, description);
      OptionalDouble allowed =
          tolerance == null ? program.tolerance() : OptionalDouble.of(tolerance);
      Duration limit = limit(program instanceof SimulatedProgram ? COMPILING : USUAL);
      return new KernelComparison(program, limit, allowed).run(arguments);
    }
  }

  private ProbeComparison.Result onPort(Port port) {
    ProgramInterface description = ChipDescription.read(folder).whole();
    List<Tensor> arguments = ChipInputs.read(inputs, description, spec.commandLine().getErr());
    double allowed = tolerance == null ? ProbeComparison.USUAL_TOLERANCE : tolerance;
    try (Progress progress = Progress.start(spec.commandLine().getErr(), "starting")) {
      progress.step("building and running with probes");
      return new ProbeComparison(folder, port, limit(USUAL), allowed)
          .run(arguments, options(port), List.of());
    }
  }

  private Duration limit(int usual) {
    return Duration.ofSeconds(timeout == null ? usual : timeout);
  }

  private List<String> options(Port port) {
    List<String> options = new ArrayList<>(ports.options(false));
    if (transfers != null) {
      if (port == Port.GVSOC || !List.of("early", "late").contains(transfers)) {
        throw new ParameterException(
            spec.commandLine(), "--transfers early or --transfers late, on host, mpi or qemu");
      }
      options.addAll(List.of("--transfers", transfers));
    }
    return options;
  }

  private static List<String> lines(ProbeComparison.Result result) {
    List<String> lines = new ArrayList<>();
    Optional<Finding> finding = result.finding();
    String error =
        result.largestAt().isEmpty()
            ? "all bits agree"
            : "largest error %.2g of its tensor's largest element: %s"
                .formatted(result.largest(), result.largestAt());
    lines.add(
        finding
            .map(Finding::line)
            .orElse(
                "PASS %d steps on %d chip%s; %s"
                    .formatted(
                        result.steps(), result.chips(), result.chips() == 1 ? "" : "s", error)));
    if (!result.message().isEmpty()) {
      lines.add("the program: " + result.message());
    }
    return lines;
  }

  private static Map<String, Object> report(ProbeComparison.Result result) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("status", result.finding().map(each -> each.kind().name()).orElse("PASS"));
    report.put("chips", result.chips());
    report.put("steps", result.steps());
    report.put("largestError", result.largest());
    report.put("largestErrorAt", result.largestAt());
    report.put("message", result.message());
    result
        .finding()
        .ifPresent(
            finding -> {
              report.put("chip", finding.chip());
              report.put("step", finding.step());
              DescriptionFields.put(finding.origin(), report);
              report.put("part", finding.part());
              report.put("expected", finding.expected());
              report.put("found", finding.found());
            });
    return report;
  }
}
