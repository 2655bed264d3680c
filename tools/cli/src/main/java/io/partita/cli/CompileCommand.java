package io.partita.cli;

import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.ModelDescription;
import io.partita.backend.siracusa.EmittedC;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.Target;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.plan.PlanResult;
import io.partita.driver.plan.Planning;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.Checksums;
import io.partita.ir.file.EmittedFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compiles a model to a target. */
@Command(
    name = "compile",
    description = {
      "Compile an ONNX model (or a .pir module) to a target.",
      "For java: one class without dependencies and its weights. A model with a KV cache becomes a"
          + " decoder with reset() and step(token). With --devices, a class for each role that devices"
          + " have, the weights of each device, and a class that is called as that for one device.",
      "For siracusa: C for each role that chips have, the weights of each chip, and a makefile."
    })
final class CompileCommand implements Callable<Integer> {
  @Parameters(paramLabel = "MODEL", description = "A .onnx or .pir file.")
  Path model;

  @Option(
      names = "--target",
      required = true,
      paramLabel = "TARGET",
      completionCandidates = TargetNames.class,
      description =
          "What to compile for: ${COMPLETION-CANDIDATES}; chips with parameters, as in"
              + " siracusa:chips=4.")
  String target;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "DIR",
      description =
          "The folder to write, whole or not at all; an earlier program in it is replaced.")
  Path output;

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Mixin TargetOptions settings = new TargetOptions();

  @Option(
      names = "--plan",
      paramLabel = "TARGET",
      description =
          "Choose the strategy and the ways of messages that are best for these devices, such as"
              + " siracusa:chips=8; see 'partita plan'.")
  String plan;

  @Option(
      names = "--passes",
      paramLabel = "PIPELINE",
      description = "Passes to run instead of the usual ones; see 'partita opt --list-passes'.")
  String passes;

  @Option(names = "--kv-capacity", paramLabel = "N", description = "Positions of the KV cache.")
  Long capacity;

  @Option(
      names = "--chunk",
      paramLabel = "N",
      description =
          "For a decoder that takes any number of tokens: also take N of a prompt at once, on the"
              + " same cache and weights.")
  Long chunk;

  @Option(
      names = "--package",
      paramLabel = "NAME",
      description = "Java package of the class; by default none.")
  String packageName;

  @Option(
      names = "--class",
      paramLabel = "NAME",
      description = "Name of the Java class; by default Model.")
  String className;

  @Option(names = "--json", description = "Print what was written as JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (chunk != null && chunk < 2) {
      throw new ParameterException(
          spec.commandLine(), "--chunk takes a number of 2 or more tokens, not " + chunk);
    }
    Written written =
        switch (Target.of(target)) {
          case JAVA -> java(err);
          case SIRACUSA -> chips(err);
          case EVALUATOR ->
              throw new ParameterException(
                  spec.commandLine(), "the evaluator runs models as they are; choose a target");
        };
    if (json) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("output", output.toString());
      report.put("files", written.files());
      report.putAll(written.report());
      out.println(Json.text(report));
    } else {
      EmittedFiles.lines(output, written.files()).forEach(out::println);
      out.println(written.summary());
    }
    return ExitCode.DONE;
  }

  /**
   * What was written.
   *
   * @param report more of it, for JSON
   */
  private record Written(List<String> files, String summary, Map<String, Object> report) {}

  private Written java(PrintWriter err) {
    if (!settings.settings.isEmpty() && plan == null) {
      throw new ParameterException(
          spec.commandLine(), "--set needs a target of chips, or --plan with a target");
    }
    EmittedProgram program = toJava(err);
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("class", program.description().className());
    report.put("kind", program.description().kind().name().toLowerCase(Locale.ROOT));
    program.description().devices().ifPresent(group -> report(group, report));
    report(report);
    return new Written(paths(program.files()), summary(program.description()), report);
  }

  private Written chips(PrintWriter err) {
    if (packageName != null || className != null) {
      throw new ParameterException(
          spec.commandLine(), "--package and --class are for --target java; C has no classes");
    }
    ChipTarget chips = settings.chips(target);
    if (plan == null) {
      devices.chosen().ifPresent(strategy -> chips.verifyDevices(strategy.devices()));
    }
    EmittedC program;
    try (Progress progress = Progress.start(err, "starting")) {
      Compilation compilation = new Compilation(err::println, progress::step);
      program =
          plan == null
              ? compilation.toC(request(), devices.chosen(), chips, output)
              : compilation.toC(
                  Distribution.overlapping(planned(request(), err, progress)), chips, output);
    }
    io.partita.backend.siracusa.ModelDescription description = program.description();
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("kind", description.hasState() ? "decoder" : "prefill");
    report.put("devices", description.chips().size());
    report.put("mesh", description.mesh().toString());
    report(report);
    int count = description.chips().size();
    String summary =
        "C for %d chip%s of %s: 'make host' builds it"
            .formatted(count, count == 1 ? "" : "s", description.target());
    return new Written(paths(program.files()), summary, report);
  }

  private static List<String> paths(List<EmittedFile> files) {
    return Stream.concat(files.stream().map(EmittedFile::path), Stream.of(Checksums.FILE)).toList();
  }

  /** Of the second entry point. */
  private void report(Map<String, Object> report) {
    if (chunk != null) {
      report.put("chunk", chunk);
    }
  }

  private Compilation.Request request() {
    return new Compilation.Request(
        model, options.dims, options.values, passes, optional(chunk), optional(capacity));
  }

  private static OptionalLong optional(Long number) {
    return number == null ? OptionalLong.empty() : OptionalLong.of(number);
  }

  private static void report(ModelDescription.DeviceGroup group, Map<String, Object> report) {
    report.put("devices", group.parts().size());
    report.put("mesh", group.mesh());
  }

  private static String summary(ModelDescription description) {
    String devices =
        description
            .devices()
            .map(group -> ", on %d devices: %s".formatted(group.parts().size(), group.mesh()))
            .orElse("");
    return kind(description) + devices;
  }

  private static String kind(ModelDescription description) {
    return switch (description.kind()) {
      case DECODER ->
          "class %s: a decoder with step(…)%s and reset(), and a state of %,d bytes"
              .formatted(
                  description.className(),
                  description.chunk().isPresent() ? ", chunk(…)" : "",
                  description.states().stream().mapToLong(state -> state.type().bytes()).sum());
      case PREFILL -> "class %s: a function, run(…)".formatted(description.className());
    };
  }

  private EmittedProgram toJava(PrintWriter err) {
    Compilation.Request request = request();
    JavaOptions names =
        new JavaOptions(
            packageName == null ? "" : packageName, className == null ? "Model" : className);
    try (Progress progress = Progress.start(err, "starting")) {
      Compilation compilation = new Compilation(err::println, progress::step);
      return plan == null
          ? compilation.toJava(request, devices.chosen(), names, output)
          : toJava(compilation, planned(request, err, progress), names);
    }
  }

  private EmittedProgram toJava(Compilation compilation, Entries planned, JavaOptions names) {
    return planned.step().placement().isEmpty()
        ? compilation.toJava(planned, names, output)
        : compilation.toJava(Distribution.overlapping(planned), names, output);
  }

  /** The best strategy and algorithms for a target; for one device, the model is as it is. */
  private Entries planned(Compilation.Request request, PrintWriter err, Progress progress) {
    Planning planning = new Planning(err::println, progress::step);
    PlanResult result = planning.search(devices.request(request, settings.planned(plan)));
    if (!result.fits()) {
      String remedy =
          "partita plan " + model + " --target " + plan + " lists changes that make it fit";
      throw new PartitaException(List.of(result.search().best().worst().diagnostic(remedy)));
    }
    return planning.entries(result);
  }
}
