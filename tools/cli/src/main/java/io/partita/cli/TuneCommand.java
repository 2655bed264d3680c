package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.OutputFile;
import io.partita.driver.evaluate.CalibrationFile;
import io.partita.driver.evaluate.Evaluation;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.MixSearch;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.SyncRules;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Finds rules for the sums of blocks within an accuracy budget. */
@Command(
    name = "tune",
    description = {
      "Find the --sync rules that send the fewest bytes within a limit on the loss in the metric.",
      "Each method is measured in each block alone; then mixes that should be within the limit are"
          + " measured as a whole."
    })
final class TuneCommand implements Callable<Integer> {
  private static final List<String> FLOATS = List.of("exact", "bf16", "drop", "drop+bf16");
  private static final List<String> INTEGERS =
      List.of(
          "exact",
          "bf16",
          "int8(via=scatter)+bf16",
          "int6(via=scatter)+bf16",
          "int5(via=tree)+bf16",
          "int4(via=scatter)+bf16",
          "int4(via=tree)+bf16",
          "drop+bf16");

  @Parameters(paramLabel = "MODEL", description = "A .onnx or .pir file.")
  GivenModel model;

  @Option(
      names = "--max-loss",
      required = true,
      paramLabel = "X%",
      description =
          "The largest allowed loss in the metric relative to its exact value, such as 1%%.")
  String maxLoss;

  @Mixin DataOptions data = new DataOptions();

  @Option(
      names = "--array",
      paramLabel = "NAME",
      description = "The array of samples; by default ${DEFAULT-VALUE}.")
  String array = "calibration";

  @Option(
      names = "--methods",
      split = ";",
      paramLabel = "METHOD",
      description =
          "The methods to choose from, separated by semicolons. By default exact;bf16;drop;"
              + "drop+bf16, and with a calibration integers of 8 to 4 bits.")
  List<String> methods;

  @Option(
      names = "--calibration",
      paramLabel = "FILE",
      description = "The ranges for int4 and other integers: a file of 'partita calibrate'.")
  Path calibration;

  @Option(
      names = "--target",
      paramLabel = "TARGET",
      description = "Also predict the latency of mixes on a target, such as siracusa:chips=8.")
  String target;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description =
          "Keep all measurements in this file (.json). With the same file the command resumes an"
              + " interrupted search, and a search with another limit or other methods measures"
              + " only what isn't in it.")
  Path output;

  @Option(
      names = "--exhaustive",
      description =
          "Measure all mixes, which takes a long time, and compare the best one with the one that"
              + " the search finds.")
  boolean exhaustive;

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    data.verify(spec);
    if (output != null) {
      OutputFile.verify(output);
    }
    Strategy strategy = devices.required(spec);
    double limit = Percentage.parse(maxLoss, spec);
    Optional<SyncCalibration> ranges =
        Optional.ofNullable(calibration).map(file -> CalibrationFile.read(file).calibration());
    Evaluation.Request evaluated =
        new Evaluation.Request(
            new Compilation.Request(
                model.file(), options.dims, options.values, null, OptionalLong.empty()),
            Optional.empty(),
            EvaluationData.read(data.file, array),
            data.scaling(),
            data.samples(),
            data.threads);
    MixSearch.Request request =
        new MixSearch.Request(
            evaluated,
            strategy,
            ranges,
            chosen(ranges),
            limit,
            Optional.ofNullable(target).map(TargetLibrary::find),
            exhaustive,
            Optional.ofNullable(output));
    PrintWriter err = spec.commandLine().getErr();
    MixSearch.Result result;
    try (Progress progress = Progress.start(err, "starting")) {
      result = new MixSearch(request, progress::note, progress).run();
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.text(report(result)));
    } else {
      lines(result).forEach(out::println);
    }
    return ExitCode.DONE;
  }

  private List<SyncMethod> chosen(Optional<SyncCalibration> ranges) {
    List<String> usual = ranges.isPresent() ? INTEGERS : FLOATS;
    List<SyncMethod> chosen = new ArrayList<>();
    for (String text : methods == null ? usual : methods) {
      SyncRules rules = SyncRules.parse(text, Optional.empty());
      rules.passes(ranges, Optional.empty());
      chosen.add(rules.clauses().getFirst().method());
    }
    return chosen;
  }

  private List<String> lines(MixSearch.Result result) {
    boolean hasTime = result.best().seconds().isPresent();
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%12s %8s %14s%s  rules",
            result.metric(),
            "loss",
            "bytes a token",
            hasTime ? "      latency" : ""));
    for (MixSearch.Mix mix : result.front()) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%12.4f %6.2f %% %,14.1f%s  %s",
              mix.value(),
              100 * mix.loss(),
              mix.bytes(),
              hasTime
                  ? String.format(Locale.ROOT, " %9.3f ms", 1e3 * mix.seconds().getAsDouble())
                  : "",
              text(mix)));
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "the best of %d measured mixes within the limit sends %.1f %% of the exact bytes:",
            result.measured(),
            100 * result.best().bytes() / result.exact().bytes()));
    lines.add("--sync '" + text(result.best()) + "'");
    if (exhaustive) {
      lines.addAll(comparison(result));
    }
    return lines;
  }

  private static List<String> comparison(MixSearch.Result result) {
    if (result.searched().isEmpty()) {
      return List.of("without --exhaustive the search finds none within the limit");
    }
    MixSearch.Mix found = result.searched().get();
    return List.of(
        String.format(
            Locale.ROOT,
            "without --exhaustive the search finds one that sends %,.1f bytes, %.1f %% more:",
            found.bytes(),
            100 * (found.bytes() / result.best().bytes() - 1)),
        "--sync '" + text(found) + "'");
  }

  private static String text(MixSearch.Mix mix) {
    return mix.rules().isEmpty() ? "exact" : mix.rules().toString();
  }

  private static Map<String, Object> report(MixSearch.Result result) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("metric", result.metric());
    report.put("measured", result.measured());
    report.put("exact", report(result.exact()));
    report.put("best", report(result.best()));
    result.searched().ifPresent(found -> report.put("searched", report(found)));
    report.put("front", result.front().stream().map(TuneCommand::report).toList());
    return report;
  }

  private static Map<String, Object> report(MixSearch.Mix mix) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("sync", text(mix));
    report.put("value", mix.value());
    report.put("loss", mix.loss());
    report.put("bytesPerToken", mix.bytes());
    mix.seconds().ifPresent(seconds -> report.put("seconds", seconds));
    return report;
  }
}
