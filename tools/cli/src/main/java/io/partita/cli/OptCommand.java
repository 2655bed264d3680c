package io.partita.cli;

import io.partita.driver.NumericVerification;
import io.partita.driver.OpenCache;
import io.partita.driver.ScheduleVerification;
import io.partita.driver.StandardPasses;
import io.partita.driver.chip.SchedulePass;
import io.partita.ir.file.OutputTarget;
import io.partita.ir.graph.Module;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.text.PirFile;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.text.ScheduleFile;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.verify.VaryingDependence;
import io.partita.passes.Pass;
import io.partita.passes.PassRegistry;
import io.partita.passes.Pipeline;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs passes on a module and prints it. */
@Command(
    name = "opt",
    description = {
      "Run passes on a module in its text form (.pir), or on an ONNX model, and print the result.",
      "A schedule in its text form (.sched) is printed, or with --verify evaluated.",
      "--list-passes says which passes there are."
    })
final class OptCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE", arity = "0..1", description = "A .pir, .onnx or .sched file.")
  Path file;

  @Mixin ModelOptions model = new ModelOptions();

  @Option(
      names = "--passes",
      paramLabel = "PIPELINE",
      description = "Such as: simplify,raise,kv-state(capacity=256). By default none.")
  String passes = "";

  @Option(
      names = "--verify",
      description = "Evaluate the module before and after each pass on seeded inputs and compare.")
  boolean verify;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of --verify's inputs; by default ${DEFAULT-VALUE}.")
  long seed = 1;

  @Option(names = "--print-after", description = "Print the module after each pass.")
  boolean printAfter;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "Write a .pir or .sched file (and its weights beside it) instead of printing.")
  Path output;

  @Option(names = "--list-passes", description = "List the passes and their options.")
  boolean listPasses;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    if (output != null && OutputTarget.isStandardOutput(output)) {
      output = null;
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (listPasses) {
      for (PassRegistry.Entry entry : StandardPasses.REGISTRY.entries()) {
        out.printf("%-28s %s%n", entry.usage(), entry.purpose());
      }
      return ExitCode.DONE;
    }
    if (file == null) {
      throw new picocli.CommandLine.ParameterException(
          spec.commandLine(), "which file? Name a .pir or .onnx file, or ask for --list-passes");
    }
    if (file.toString().endsWith(ScheduleFile.SUFFIX)) {
      return finish(ScheduleFile.read(file), Optional.empty(), out);
    }
    Pipeline all = Pipeline.parse(passes, StandardPasses.REGISTRY);
    Optional<SchedulePass> schedules = SchedulePass.last(all);
    Pipeline pipeline = SchedulePass.before(all);
    Module result;
    Schedule schedule = null;
    try (Progress progress = Progress.start(err, "reading " + file.getFileName())) {
      Module module = OpenCache.read(file, model.dims, model.values, pipeline);
      progress.step("running passes");
      NumericVerification verification = new NumericVerification(seed);
      result =
          pipeline.run(
              module,
              (pass, before, after) -> {
                StandardPasses.verifyStructure(pass, after);
                if (verify) {
                  progress.step("verifying " + pass.name());
                  out.println(verification.check(pass, before, after));
                }
                if (printAfter) {
                  print(pass, after, out);
                }
              });
      if (schedules.isPresent()) {
        progress.step("scheduling");
        schedule = schedules.get().schedule(result);
      }
    }
    if (verify) {
      VaryingDependence.of(result).forEach(out::println);
    }
    if (schedule != null) {
      return finish(schedule, Optional.of(result), out);
    }
    if (output != null) {
      PirFile.write(result, output);
    } else if (!verify && !printAfter) {
      out.print(PirPrinter.print(result));
    }
    return ExitCode.DONE;
  }

  /**
   * Verifies, writes or prints a schedule.
   *
   * @param before what it was made of, if that's known
   */
  private int finish(Schedule schedule, Optional<Module> before, PrintWriter out) {
    if (verify) {
      ScheduleVerification verification = new ScheduleVerification(seed);
      before
          .map(module -> List.of(verification.check(module, schedule)))
          .orElseGet(() -> verification.run(schedule))
          .forEach(out::println);
    }
    if (output != null) {
      ScheduleFile.write(schedule, output);
    } else if (!verify) {
      out.print(SchedulePrinter.print(schedule));
    }
    return ExitCode.DONE;
  }

  private static void print(Pass pass, Module module, PrintWriter out) {
    out.println("// after " + pass.name());
    out.print(PirPrinter.print(module));
  }
}
