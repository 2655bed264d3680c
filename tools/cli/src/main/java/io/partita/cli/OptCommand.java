package io.partita.cli;

import io.partita.driver.NumericVerification;
import io.partita.driver.OutputFile;
import io.partita.driver.StagedFile;
import io.partita.driver.StandardPasses;
import io.partita.ir.file.OutputTarget;
import io.partita.ir.stage.Stage;
import io.partita.ir.stage.Staged;
import io.partita.ir.verify.VaryingDependence;
import io.partita.passes.PassRegistry;
import io.partita.passes.Pipeline;
import java.io.PrintWriter;
import java.nio.file.Path;
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
      "Run passes on an ONNX model, or on the text of any stage (.pir, .sched), and print the"
          + " result.",
      "Passes lead from a module through the program of each device to a schedule:",
      "shard(tensor=2),localize,schedule.",
      "--list-passes lists the passes."
    })
final class OptCommand implements Callable<Integer> {
  @Parameters(paramLabel = "FILE", arity = "0..1", description = "A .pir, .onnx or .sched file.")
  Path file;

  @Mixin ModelOptions options = new ModelOptions();

  @Option(
      names = "--passes",
      paramLabel = "PIPELINE",
      description = "Such as: simplify,raise,kv-state(capacity=256). By default none.")
  String passes = "";

  @Option(
      names = "--verify",
      description = {
        "Evaluate the model before and after each pass on seeded inputs and compare.",
        "Without passes, evaluate it."
      })
  boolean verify;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of --verify's inputs; by default ${DEFAULT-VALUE}.")
  long seed = 1;

  @Option(names = "--print-after", description = "Print the model after each pass.")
  boolean printAfter;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "Write a .pir or .sched file (and its weights beside it) instead of printing.")
  Path output;

  private static final int USAGE_WIDTH = 24;

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
        String stages =
            entry.takes().equals(entry.gives())
                ? entry.takes().label()
                : entry.takes().label() + " to " + entry.gives().label();
        boolean isLong = entry.usage().length() > USAGE_WIDTH;
        if (isLong) {
          out.println(entry.usage());
        }
        String usage = isLong ? "" : entry.usage();
        out.printf("%-" + USAGE_WIDTH + "s %-20s %s%n", usage, stages, entry.purpose());
      }
      return ExitCode.DONE;
    }
    if (file == null) {
      throw new picocli.CommandLine.ParameterException(
          spec.commandLine(),
          "which file? Name a .onnx, .pir or .sched file, or use --list-passes");
    }
    if (output != null) {
      OutputFile.verify(output);
    }
    Pipeline pipeline = Pipeline.parse(passes, StandardPasses.REGISTRY);
    Pipeline remaining = StagedFile.rest(file, pipeline);
    NumericVerification verification = new NumericVerification(seed);
    Staged<?> result;
    try (Progress progress = Progress.start(err, "reading " + file.getFileName())) {
      Staged<?> model =
          StagedFile.read(file, options.dims, options.values, pipeline, progress::note, progress);
      progress.step("running passes");
      result =
          remaining.run(
              model,
              (pass, before, after) -> {
                progress.step("after " + pass.name());
                StandardPasses.verifyStructure(pass, after);
                if (verify) {
                  out.println(verification.check(pass, before, after));
                  if (after.at(Stage.MODULE).isEmpty()) {
                    sayWhatVaries(before, out);
                  }
                }
                if (printAfter) {
                  out.println("// after " + pass.name());
                  out.print(after.print());
                }
              });
    }
    if (verify) {
      if (remaining.passes().isEmpty()) {
        verification.run(result).forEach(out::println);
      }
      sayWhatVaries(result, out);
    }
    if (output != null) {
      result.write(output);
    } else if (!verify && !printAfter) {
      out.print(result.print());
    }
    return ExitCode.DONE;
  }

  /** Runs passes on a module. */
  private static void sayWhatVaries(Staged<?> model, PrintWriter out) {
    model.at(Stage.MODULE).stream()
        .flatMap(module -> VaryingDependence.of(module).stream())
        .forEach(out::println);
  }
}
