package io.partita.cli;

import io.partita.api.CompilationListener;
import io.partita.api.CompileOptions;
import io.partita.api.CompiledModel;
import io.partita.api.InvalidOptionsException;
import io.partita.api.Partita;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.report.ProgramReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
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
          + " decoder with reset() and step(token). With --devices, one class for each role, the"
          + " weights of each device, and a class with the interface of a single-device model.",
      "For siracusa: C for each role, the weights of each chip, and a makefile."
    })
final class CompileCommand implements Callable<Integer> {
  private static final List<String> OUTPUTS = List.of("-o", "--output", "--report");

  @Parameters(paramLabel = "MODEL", description = "A .onnx or .pir file.")
  GivenModel model;

  @Option(
      names = "--target",
      required = true,
      paramLabel = "TARGET",
      completionCandidates = TargetNames.class,
      description =
          "The target: ${COMPLETION-CANDIDATES}; chips with parameters, as in"
              + " siracusa:chips=4.")
  String target;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "DIR",
      description = "The folder to write, atomically; an earlier program in it is replaced.")
  Path output;

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin QuantizeOptions quantization = new QuantizeOptions();

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Mixin SyncOptions syncs = new SyncOptions();

  @Mixin SpeculateOptions speculation = new SpeculateOptions();

  @Mixin TargetOptions settings = new TargetOptions();

  @Option(
      names = "--plan",
      paramLabel = "TARGET",
      description =
          "Choose the best strategy and sync algorithms for these devices, such as"
              + " siracusa:chips=8; see 'partita plan'.")
  String plan;

  @Option(
      names = "--passes",
      paramLabel = "PIPELINE",
      description = "Passes to run instead of the default ones; see 'partita opt --list-passes'.")
  String passes;

  @Option(names = "--kv-capacity", paramLabel = "N", description = "Positions of the KV cache.")
  Long capacity;

  @Option(
      names = "--chunk",
      paramLabel = "N",
      description =
          "For a decoder that takes any number of tokens: add an entry point that takes N prompt"
              + " tokens at once, with the same cache and weights.")
  Long chunk;

  @Option(
      names = "--prompt-model",
      paramLabel = "FILE",
      description =
          "With --chunk N, for a decoder that takes one token: an export of the same model without"
              + " cache, for prompts of N tokens.")
  Path promptModel;

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

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "Also write the program's report, as 'partita report' does.")
  Path report;

  @Option(names = "--json", description = "Print what was written as JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    if (report != null) {
      OutputFile.verify(report);
    }
    CompiledModel compiled = compile(spec.commandLine().getErr());
    if (report != null) {
      ReportCommand.write(
          ProgramReport.page(
              output, Optional.empty(), Optional.of(CommandText.of(spec, OUTPUTS)), Version.text()),
          report);
    }
    if (json) {
      out.println(Json.text(report(compiled)));
    } else {
      EmittedFiles.lines(output, compiled.files()).forEach(out::println);
      if (report != null) {
        out.println(report);
      }
      out.println(compiled.summary());
      compiled
          .speculation()
          .ifPresent(
              predicted ->
                  out.println(
                      SpeculateOptions.latency(predicted.hitSeconds(), predicted.missSeconds())));
    }
    return ExitCode.DONE;
  }

  private CompiledModel compile(PrintWriter err) {
    try (Progress progress = Progress.start(err, "starting")) {
      return Partita.compile(
          options(),
          new CompilationListener() {
            @Override
            public void note(Diagnostic note) {
              progress.note(note);
            }

            @Override
            public void step(String description) {
              progress.step(description);
            }

            @Override
            public void share(double done) {
              progress.share(done);
            }
          });
    } catch (InvalidOptionsException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage());
    }
  }

  private CompileOptions options() {
    CompileOptions.Builder builder =
        CompileOptions.of(model.file(), target, output)
            .dimensions(options.dims)
            .bindings(options.values)
            .settings(settings.values)
            .devices(devices.devices)
            .strategy(devices.strategy)
            .sync(syncs.rules)
            .calibration(syncs.calibration)
            .ranking(syncs.ranking)
            .speculate(speculation.text)
            .plan(plan)
            .passes(passes)
            .quantize(quantization.text)
            .promptModel(promptModel)
            .packageName(packageName)
            .className(className)
            .command(CommandText.withoutFolders(spec, OUTPUTS));
    if (capacity != null) {
      builder.cacheCapacity(capacity);
    }
    if (chunk != null) {
      builder.chunk(chunk);
    }
    return builder.build();
  }

  private Map<String, Object> report(CompiledModel compiled) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("output", output.toString());
    if (this.report != null) {
      report.put("report", this.report.toString());
    }
    report.put("files", compiled.files());
    compiled.className().ifPresent(name -> report.put("class", name));
    report.put("kind", compiled.kind().name().toLowerCase(Locale.ROOT));
    compiled
        .mesh()
        .ifPresent(
            mesh -> {
              report.put("devices", compiled.devices());
              report.put("mesh", mesh);
            });
    if (chunk != null) {
      report.put("chunk", chunk);
    }
    compiled
        .speculation()
        .ifPresent(
            predicted -> {
              report.put("hitSeconds", predicted.hitSeconds());
              report.put("missSeconds", predicted.missSeconds());
            });
    report.put("inputs", compiled.inputs().stream().map(Path::toString).toList());
    return report;
  }
}
