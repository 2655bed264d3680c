package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.OutputFile;
import io.partita.driver.SyncSelection;
import io.partita.driver.evaluate.Calibration;
import io.partita.driver.evaluate.CalibrationFile;
import io.partita.driver.evaluate.CodebookCalibration;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.LowBitSyncs;
import io.partita.passes.mesh.sync.SumErrors;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures the ranges of the values that devices send. */
@Command(
    name = "calibrate",
    description = {
      "Measure the ranges of the features that devices send each other, on data, for the"
          + " pass low-bit.",
      "Repeating the command resumes an interrupted calibration."
    })
final class CalibrateCommand implements Callable<Integer> {
  /** The bits of a code in the printed table. */
  private static final int USUAL_BITS = 4;

  @Parameters(paramLabel = "MODEL", description = "A .onnx or .pir file.")
  GivenModel model;

  @Mixin DataOptions data = new DataOptions();

  @Option(
      names = "--array",
      paramLabel = "NAME",
      description = "The array of samples; by default ${DEFAULT-VALUE}.")
  String array = "calibration";

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "The calibration (.json).")
  Path output;

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Option(
      names = "--sync",
      paramLabel = "RULES",
      description =
          "Drop the syncs that these rules drop first, such as 'blocks 0-3: drop+int4', and find"
              + " codebooks for those with 'vq(k=1024,groups=16)'. By default all sums are exact.")
  String rules;

  @Option(
      names = "--ranking",
      paramLabel = "FILE",
      description = "The order of blocks for 'ranked N' in --sync: a file of 'partita rank'.")
  Path ranking;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    data.verify(spec);
    OutputFile.verify(output);
    Strategy strategy = devices.required(spec);
    Compilation.Request request =
        new Compilation.Request(
            model.file(), options.dims, options.values, null, OptionalLong.empty());
    SyncSelection selection =
        new SyncSelection(
            Optional.ofNullable(rules), Optional.empty(), Optional.ofNullable(ranking));
    List<SyncMethod.Width.Vector> codebooks = selection.codebooks();
    EvaluationData given = EvaluationData.read(data.file, array);
    PrintWriter err = spec.commandLine().getErr();
    CalibrationFile file;
    try (Progress progress = Progress.start(err, "starting")) {
      Calibration.Request wanted =
          new Calibration.Request(
              request,
              selection.calibrated(strategy),
              given,
              data.scaling(),
              data.samples(),
              data.threads,
              output);
      file =
          codebooks.isEmpty()
              ? new Calibration(progress::note, progress).run(wanted)
              : new CodebookCalibration(progress::note, progress).run(wanted, codebooks);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("output", output.toString());
    report.put("mesh", file.calibration().mesh());
    report.put("sums", file.calibration().sums().size());
    report.put("sequences", file.sequences());
    report.put(
        "codebooks", file.calibration().codebooks().stream().map(CalibrateCommand::json).toList());
    int books = file.calibration().codebooks().size();
    String text =
        "%s: %s on %s, of %d sequences"
            .formatted(
                output,
                books > 0
                    ? books + " codebooks, relative error " + errors(file.calibration().codebooks())
                    : file.calibration().sums().size() + " sums",
                file.calibration().mesh(),
                file.sequences());
    List<SyncCalibration.Sum> sums = file.calibration().sums();
    List<String> errors = new ArrayList<>();
    if (!sums.isEmpty() && !sums.getFirst().errors().squares().isEmpty()) {
      report.put("errors", sums.stream().map(sum -> json(sum)).toList());
      errors.addAll(lines(sums));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println(json ? Json.text(report) : text);
    if (!json) {
      errors.forEach(out::println);
    }
    return ExitCode.DONE;
  }

  private static List<String> lines(List<SyncCalibration.Sum> sums) {
    List<String> lines = new ArrayList<>();
    DoubleSummaryStatistics spreads =
        sums.stream().mapToDouble(sum -> sum.ranges().spread()).summaryStatistics();
    lines.add(
        String.format(
            Locale.ROOT,
            "range of the widest feature, relative to the mean range: mean %.2f, largest %.2f",
            spreads.getAverage(),
            spreads.getMax()));
    lines.add("relative error of int4+bf16, and steps (messages one after the other):");
    for (LowBitSyncs.Via via : LowBitSyncs.Via.EXCHANGES) {
      String key = SumErrors.key(USUAL_BITS, true, via);
      DoubleSummaryStatistics all =
          sums.stream()
              .flatMapToDouble(sum -> sum.errors().relative(key).stream())
              .summaryStatistics();
      lines.add(
          String.format(
              Locale.ROOT,
              "    via=%-8s mean %.4f, largest %.4f, steps %d",
              via,
              all.getAverage(),
              all.getMax(),
              via.steps(sums.getFirst().ranges().places())));
    }
    return lines;
  }

  private static Map<String, Object> json(SyncCalibration.Sum sum) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", sum.name());
    fields.put("spread", sum.ranges().spread());
    for (String key : sum.errors().squares().sequencedKeySet()) {
      fields.put(key, sum.errors().relative(key).orElseThrow());
    }
    return fields;
  }

  private static Map<String, Object> json(Codebook book) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", book.name());
    fields.put("size", book.size());
    fields.put("groups", book.groups());
    fields.put("error", book.residual().error());
    fields.put("distance", book.residual().distance());
    fields.put("noisyDistance", book.residual().noisyDistance());
    return fields;
  }

  private static String errors(List<Codebook> books) {
    return books.stream()
        .map(book -> String.format(Locale.ROOT, "%.3f", book.residual().error()))
        .collect(Collectors.joining(" "));
  }
}
