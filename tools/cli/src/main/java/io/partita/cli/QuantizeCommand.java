package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.ModelFile;
import io.partita.driver.OutputFile;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.ObservedRuns;
import io.partita.driver.evaluate.Scaling;
import io.partita.driver.quantize.Quantization;
import io.partita.driver.quantize.RangeChoice;
import io.partita.frontend.onnx.OnnxModel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
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

/** Quantizes a model after training. */
@Command(
    name = "quantize",
    description = {
      "Write a model with its matrices as integers of 8 or 4 bits, and the inputs of its products"
          + " as integers of 8 bits. Their ranges are measured on data.",
      "The result is an ONNX model with QuantizeLinear and DequantizeLinear nodes, which other"
          + " programs run too."
    })
final class QuantizeCommand implements Callable<Integer> {
  @Parameters(paramLabel = "MODEL", description = "A .onnx file.")
  GivenModel model;

  @Option(
      names = "--calibration",
      required = true,
      paramLabel = "FILE",
      description = "The data (.npz) on which ranges are measured, as for 'partita evaluate'.")
  Path calibration;

  @Option(
      names = "--array",
      paramLabel = "NAME",
      description = "The array of samples; by default ${DEFAULT-VALUE}.")
  String array = "calibration";

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "The quantized model (.onnx). Large data is in a file beside it.")
  Path output;

  @Option(
      names = "--weights",
      paramLabel = "TYPE",
      description =
          "int8, with a scale for each column, or int4, with a scale for each group of rows of a"
              + " column; by default ${DEFAULT-VALUE}.")
  String weights = "int8";

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "The rows of a group; by default ${DEFAULT-VALUE}.")
  int group = 32;

  @Option(
      names = "--activations",
      paramLabel = "TYPE",
      description = "The inputs of products: int8 or float; by default ${DEFAULT-VALUE}.")
  String activations = "int8";

  @Option(
      names = "--attention",
      paramLabel = "TYPE",
      description =
          "What attentions compute with, and caches of keys and values hold: int8 or float; by"
              + " default ${DEFAULT-VALUE}.")
  String attention = "float";

  @Option(
      names = "--functions",
      paramLabel = "TYPE",
      description =
          "The arguments of the activation functions of feed-forward networks, which become tables:"
              + " int8 or float; by default ${DEFAULT-VALUE}.")
  String functions = "float";

  @Option(
      names = "--range",
      paramLabel = "CHOICE",
      description =
          "The range of an input: minmax, percentile, or mse for the least squared error; by"
              + " default ${DEFAULT-VALUE}.")
  String range = "mse";

  @Option(
      names = "--percentile",
      paramLabel = "P",
      description =
          "The numbers within the range of percentile, in percent; by default ${DEFAULT-VALUE}.")
  double percentile = 99.99;

  @Option(
      names = "--smooth",
      paramLabel = "ALPHA",
      description =
          "How far outliers of features after a norm move into the matrices, from 0 (not at all) to"
              + " 1; by default ${DEFAULT-VALUE}.")
  double smoothing;

  @Option(
      names = "--max-error",
      paramLabel = "E",
      description =
          "The relative error of a product from which its matrix gets 8 bits, and then its input"
              + " stays float, and of an attention or activation function from which it stays float;"
              + " by default none.")
  double largestError = Double.POSITIVE_INFINITY;

  @Option(
      names = "--float",
      paramLabel = "NODE",
      description =
          "The name of a product, attention or function that stays float, as in the table; may be"
              + " repeated.")
  List<String> excluded = new ArrayList<>();

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Only the first N samples; by default ${DEFAULT-VALUE}.")
  int samples = 32;

  @Option(
      names = "--mean",
      paramLabel = "X",
      description = "As for 'partita evaluate'; by default ${DEFAULT-VALUE}.")
  double mean;

  @Option(
      names = "--std",
      paramLabel = "X",
      description = "As for 'partita evaluate'; by default ${DEFAULT-VALUE}.")
  double deviation = 1;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Samples to run in parallel; by default the number of processors.")
  int threads = Runtime.getRuntime().availableProcessors();

  @Mixin ModelOptions options = new ModelOptions();

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    verify();
    OutputFile.verify(output);
    Quantization.Settings settings =
        new Quantization.Settings(
            weights.equals("int4") ? 4 : 8,
            group,
            activations.equals("int8"),
            attention.equals("int8"),
            functions.equals("int8"),
            switch (range) {
              case "minmax" -> RangeChoice.MIN_MAX;
              case "percentile" -> RangeChoice.PERCENTILE;
              default -> RangeChoice.MSE;
            },
            percentile,
            smoothing,
            largestError,
            excluded);
    Compilation.Request request =
        new Compilation.Request(
            model.file(), options.dims, options.values, null, OptionalLong.empty());
    PrintWriter err = spec.commandLine().getErr();
    Quantization.Quantized quantized;
    try (Progress progress = Progress.start(err, "starting")) {
      ObservedRuns.Data data =
          new ObservedRuns.Data(
              EvaluationData.read(calibration, array),
              new Scaling(mean, deviation),
              OptionalInt.of(samples),
              threads);
      progress.step("reading " + request.model().getFileName());
      quantized =
          new Quantization(progress::note, progress)
              .run(
                  new Quantization.Request(request, data, settings),
                  OnnxModel.read(request.model()));
      progress.step("writing " + output);
      quantized.write(output);
    }
    Quantization.Result result = quantized.result();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.text(report(result)));
    } else {
      lines(result).forEach(out::println);
    }
    return ExitCode.DONE;
  }

  private void verify() {
    Path file = model.file();
    List<Path> given = Files.exists(file) ? ModelFile.parts(file) : List.of();
    for (Path written : List.of(output, Quantization.data(output))) {
      require(
          "-o",
          given.stream().noneMatch(part -> isSame(part, written)),
          output,
          "another file than the model"
              + (written.equals(output) ? "" : ", and another than its data"));
    }
    require("--weights", List.of("int8", "int4").contains(weights), weights, "int8 or int4");
    require(
        "--activations",
        List.of("int8", "float").contains(activations),
        activations,
        "int8 or float");
    require(
        "--attention", List.of("int8", "float").contains(attention), attention, "int8 or float");
    require(
        "--functions", List.of("int8", "float").contains(functions), functions, "int8 or float");
    require(
        "--range",
        List.of("minmax", "percentile", "mse").contains(range),
        range,
        "minmax, percentile or mse");
    require("--group", group >= 2, group, "2 or more");
    require(
        "--percentile",
        percentile > 50 && percentile <= 100,
        percentile,
        "a number from 50 to 100");
    require("--smooth", smoothing >= 0 && smoothing <= 1, smoothing, "a number from 0 to 1");
    require("--max-error", largestError > 0, largestError, "a number above 0");
    require("--samples", samples >= 1, samples, "1 or more");
    require("--threads", threads >= 1, threads, "1 or more");
    require("--mean", Double.isFinite(mean), mean, "a finite number");
    boolean isDivisor = Double.isFinite(deviation) && deviation > 0;
    require("--std", isDivisor, deviation, "a number above 0");
  }

  /** Whether two names are of one file. */
  private static boolean isSame(Path file, Path other) {
    try {
      return Files.isSameFile(file, other);
    } catch (IOException missing) {
      return false;
    }
  }

  private void require(String option, boolean isRight, Object found, String expected) {
    if (!isRight) {
      throw new ParameterException(
          spec.commandLine(), option + " takes " + expected + ", not " + found);
    }
  }

  private List<String> lines(Quantization.Result result) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s: %d products, ranges of %d samples%s"
            .formatted(
                output,
                result.layers().size(),
                result.samples(),
                result.smoothed() > 0 ? ", " + result.smoothed() + " inputs smoothed" : ""));
    int width =
        Stream.of(
                result.layers().stream().map(layer -> layer.product().name()),
                result.attentions().stream().map(attention -> attention.site().name()),
                result.activations().stream().map(activation -> activation.site().name()))
            .flatMap(names -> names)
            .mapToInt(String::length)
            .max()
            .orElse(0);
    String name = "%-" + Math.max(width, 7) + "s";
    lines.add(
        String.format(
            Locale.ROOT,
            name + "  %-11s %-7s %-6s %9s %9s %7s",
            "product",
            "matrix",
            "weights",
            "input",
            "own error",
            "error",
            "SQNR"));
    for (Quantization.Layer layer : result.layers()) {
      lines.add(
          String.format(
              Locale.ROOT,
              name + "  %-11s %-7s %-6s %8.2f%% %8.2f%% %4.1f dB",
              layer.product().name(),
              layer.product().inner() + "x" + layer.product().columns(),
              "int" + layer.weightBits(),
              layer.inputBits() == 8 ? "int8" : "float",
              100 * layer.ownError(),
              100 * layer.error(),
              layer.decibels()));
    }
    for (Quantization.Attention attention : result.attentions()) {
      lines.add(
          String.format(
              Locale.ROOT,
              name + "  %-11s %-7s %-6s %8.2f%% %8.2f%% %4.1f dB",
              attention.site().name(),
              "attention",
              "",
              attention.bits() == 8 ? "int8" : "float",
              100 * attention.ownError(),
              100 * attention.error(),
              attention.decibels()));
    }
    for (Quantization.Activation activation : result.activations()) {
      lines.add(
          String.format(
              Locale.ROOT,
              name + "  %-11s %-7s %-6s %8.2f%% %8.2f%% %4.1f dB",
              activation.site().name(),
              "function",
              "",
              activation.bits() == 8 ? "int8" : "float",
              100 * activation.ownError(),
              100 * activation.error(),
              activation.decibels()));
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "%s on %d calibration %s: %.4f, of the float model %.4f",
            result.metric(),
            result.compared(),
            result.compared() == 1 ? "sample" : "samples",
            result.value(),
            result.exact()));
    return lines;
  }

  private Map<String, Object> report(Quantization.Result result) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("output", output.toString());
    report.put("samples", result.samples());
    report.put("smoothed", result.smoothed());
    report.put("compared", result.compared());
    report.put("metric", result.metric());
    report.put("exact", result.exact());
    report.put("value", result.value());
    List<Map<String, Object>> layers = new ArrayList<>();
    for (Quantization.Layer layer : result.layers()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("product", layer.product().name());
      fields.put("rows", layer.product().inner());
      fields.put("columns", layer.product().columns());
      fields.put("weightBits", layer.weightBits());
      fields.put("inputBits", layer.inputBits());
      fields.put("ownError", layer.ownError());
      fields.put("error", layer.error());
      layers.add(fields);
    }
    report.put("layers", layers);
    List<Map<String, Object>> attentions = new ArrayList<>();
    for (Quantization.Attention attention : result.attentions()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("product", attention.site().name());
      fields.put("inputBits", attention.bits());
      fields.put("ownError", attention.ownError());
      fields.put("error", attention.error());
      attentions.add(fields);
    }
    report.put("attentions", attentions);
    List<Map<String, Object>> functions = new ArrayList<>();
    for (Quantization.Activation activation : result.activations()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("function", activation.site().name());
      fields.put("inputBits", activation.bits());
      fields.put("ownError", activation.ownError());
      fields.put("error", activation.error());
      functions.add(fields);
    }
    report.put("functions", functions);
    return report;
  }
}
