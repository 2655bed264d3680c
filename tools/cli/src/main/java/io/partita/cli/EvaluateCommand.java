package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.Sharding;
import io.partita.driver.evaluate.Attribution;
import io.partita.driver.evaluate.Evaluation;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.SpeculationEvaluation;
import io.partita.driver.evaluate.SpeculationHits;
import io.partita.driver.evaluate.SpeculationSearch;
import io.partita.driver.evaluate.Traffic;
import io.partita.ir.target.TargetLibrary;
import io.partita.passes.graph.speculate.Speculation;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures the quality of a model. */
@Command(
    name = "evaluate",
    description = {
      "Measure a model on data, using the Java emitted for it: the perplexity of a language"
          + " model or the top-1 accuracy of a classifier; and the bytes that devices send.",
      "The data is a NumPy archive (.npz). Token ids are integers [n,length]; samples of a"
          + " classifier are [n,...], and the array with the suffix _labels has their classes."
    })
final class EvaluateCommand implements Callable<Integer> {
  @Parameters(paramLabel = "MODEL", description = "A .onnx or .pir file.")
  GivenModel model;

  @Mixin DataOptions data = new DataOptions();

  @Option(
      names = "--array",
      paramLabel = "NAME",
      description = "The array of samples; by default ${DEFAULT-VALUE}.")
  String array = "validation";

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin QuantizeOptions quantization = new QuantizeOptions();

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Mixin SyncOptions syncs = new SyncOptions();

  @Option(names = "--kv-capacity", paramLabel = "N", description = "Positions of the KV cache.")
  Long capacity;

  @Option(
      names = "--passes",
      paramLabel = "PIPELINE",
      description = "Passes to run instead of the default ones; see 'partita opt --list-passes'.")
  String passes;

  @Option(
      names = "--attribute",
      description =
          "List the bytes of each sync without and with --sync, and the error and the metric if"
              + " only one block or sync is rewritten. Takes one more evaluation for each of them.")
  boolean attribute;

  @Option(
      names = "--target",
      paramLabel = "TARGET",
      description = "With --attribute: predict the latency of each sync on this target.")
  String target;

  @Option(
      names = "--speculate",
      paramLabel = "lambda=L,chunk=C",
      description =
          "Continue with an approximate attention, of the first and the last C tokens, where it is"
              + " within L of the exact one, relative to its L2 norm; print how often it is. Without"
              + " lambda, measure those from 0.05 to 0.25.")
  String speculate;

  @Option(
      names = "--max-loss",
      paramLabel = "X%",
      description =
          "With --speculate chunk=C: choose the largest lambda, from 0.05 to 0.25, with which the"
              + " metric loses at most this, such as 1%%.")
  String maxLoss;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  private static final Pattern CHUNK = Pattern.compile("chunk=([1-9][0-9]{0,8})");

  @Override
  public Integer call() {
    data.verify(spec);
    Optional<Sharding> sharding = syncs.selection().sharding(devices.selection().chosen());
    verifyAttribution(sharding);
    Compilation.Request request =
        new Compilation.Request(
                model.file(),
                options.dims,
                options.values,
                passes,
                OptionalLong.empty(),
                capacity == null ? OptionalLong.empty() : OptionalLong.of(capacity))
            .with(quantization.step());
    Evaluation.Request evaluated =
        new Evaluation.Request(
            request,
            sharding,
            EvaluationData.read(data.file, array),
            data.scaling(),
            data.samples(),
            data.threads);
    PrintWriter err = spec.commandLine().getErr();
    if (maxLoss != null) {
      return choose(evaluated, err);
    }
    if (speculate != null && CHUNK.matcher(speculate).matches()) {
      return sweep(evaluated, err);
    }
    Optional<Speculation> speculation =
        Optional.ofNullable(speculate).map(text -> Speculation.parse("--speculate", text));
    Evaluation.Result result;
    Optional<SpeculationHits> hits = Optional.empty();
    Optional<Attribution.Result> attribution = Optional.empty();
    try (Progress progress = Progress.start(err, "starting")) {
      if (speculation.isPresent()) {
        SpeculationEvaluation.Result speculated =
            new SpeculationEvaluation(progress::note, progress).run(evaluated, speculation.get());
        result = speculated.evaluation();
        hits = Optional.of(speculated.hits());
      } else {
        result = new Evaluation(progress::note, progress).run(evaluated);
      }
      if (attribute) {
        attribution =
            Optional.of(
                new Attribution(
                        evaluated,
                        Optional.ofNullable(target).map(TargetLibrary::find),
                        diagnostic -> {},
                        progress)
                    .run(result));
      }
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      Map<String, Object> report = report(result);
      hits.ifPresent(
          found -> report.putAll(HitTable.report(found, speculation.orElseThrow().lambda())));
      attribution.ifPresent(found -> report.putAll(AttributionTable.report(found)));
      out.println(Json.text(report));
    } else {
      out.println(text(result));
      hits.map(found -> HitTable.lines(found, speculation.orElseThrow().lambda()))
          .ifPresent(lines -> lines.forEach(out::println));
      attribution.map(AttributionTable::lines).ifPresent(lines -> lines.forEach(out::println));
    }
    return ExitCode.DONE;
  }

  /** Chooses the threshold of a speculation within the loss budget. */
  private Integer choose(Evaluation.Request request, PrintWriter err) {
    double budget = Percentage.parse(maxLoss, spec);
    Matcher chunk = CHUNK.matcher(speculate == null ? "" : speculate);
    if (!chunk.matches()) {
      throw new ParameterException(
          spec.commandLine(), "--max-loss needs --speculate chunk=C, and chooses lambda");
    }
    SpeculationSearch.Result result;
    try (Progress progress = Progress.start(err, "starting")) {
      result =
          new SpeculationSearch(progress::note, progress)
              .run(request, Long.parseLong(chunk.group(1)), budget);
    }
    print(LambdaTable.choice(result), LambdaTable.choiceReport(result));
    return ExitCode.DONE;
  }

  /** Measures the usual thresholds of a speculation. */
  private Integer sweep(Evaluation.Request request, PrintWriter err) {
    Matcher chunk = CHUNK.matcher(speculate);
    SpeculationSearch.Result result;
    try (Progress progress = Progress.start(err, "starting")) {
      long tokens = chunk.matches() ? Long.parseLong(chunk.group(1)) : 0;
      result = new SpeculationSearch(progress::note, progress).sweep(request, tokens);
    }
    print(LambdaTable.lines(result), LambdaTable.report(result));
    return ExitCode.DONE;
  }

  private void print(List<String> lines, Map<String, Object> report) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.text(report));
    } else {
      lines.forEach(out::println);
    }
  }

  private void verifyAttribution(Optional<Sharding> sharding) {
    boolean isRewritten = sharding.filter(each -> !each.syncs().isEmpty()).isPresent();
    if (attribute && !isRewritten) {
      throw new ParameterException(
          spec.commandLine(), "--attribute needs --devices N and --sync RULES");
    }
    if (attribute && speculate != null) {
      throw new ParameterException(
          spec.commandLine(), "--attribute measures no speculation; leave --speculate out");
    }
    if (isRewritten && speculate != null) {
      throw new ParameterException(
          spec.commandLine(), "--speculate needs exact sums of blocks; leave --sync out");
    }
    if (target != null && !attribute) {
      throw new ParameterException(spec.commandLine(), "--target needs --attribute");
    }
  }

  private static String text(Evaluation.Result result) {
    StringBuilder text = new StringBuilder();
    line(text, "%-12s %.4f", result.metric(), result.value());
    if (result.value() != result.mean()) {
      line(text, "%-12s %.4f", "loss", result.mean());
    }
    line(
        text,
        "%-12s %,d %s in %.1f s, %.0f a second",
        "measured",
        result.count(),
        result.unit(),
        result.seconds(),
        result.count() / result.seconds());
    if (result.traffic().isPresent()) {
      line(text, "%-12s %d", "devices", result.devices());
      Traffic traffic = result.traffic().get();
      line(
          text,
          "%-12s %,.1f bytes for each of the %s",
          "sent",
          result.bytesPerToken(),
          result.unit());
      if (traffic.values() > 0) {
        line(
            text,
            "%-12s %.4g bits for each value that sums and blocks exchange",
            "width",
            traffic.bitsPerValue());
      }
    }
    return text.toString().stripTrailing();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments)).append(System.lineSeparator());
  }

  private static Map<String, Object> report(Evaluation.Result result) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("metric", result.metric());
    report.put("value", result.value());
    report.put("mean", result.mean());
    report.put("count", result.count());
    report.put("unit", result.unit());
    report.put("seconds", result.seconds());
    report.put("devices", result.devices());
    report.put("bytesPerToken", result.bytesPerToken());
    report.put("blockBytesPerToken", result.blockBytesPerToken());
    result
        .traffic()
        .filter(traffic -> traffic.values() > 0)
        .ifPresent(traffic -> report.put("bitsPerValue", traffic.bitsPerValue()));
    return report;
  }
}
