package io.partita.cli;

import io.partita.driver.ModelFile;
import io.partita.driver.OutputFile;
import io.partita.driver.quantize.Quantization;
import io.partita.driver.quantize.QuantizationOptions;
import io.partita.driver.quantize.QuantizationStep;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
      description =
          "The data (.npz) on which ranges are measured: one array of samples as for 'partita evaluate',"
              + " or arrays named as the model's inputs.")
  Path calibration;

  @Option(
      names = "--array",
      paramLabel = "NAME",
      description = "The array of samples, where it is one; by default ${DEFAULT-VALUE}.")
  String array = QuantizationOptions.usual("array");

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
  String weights = QuantizationOptions.usual("weights");

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "The rows of a group; by default ${DEFAULT-VALUE}.")
  String group = QuantizationOptions.usual("group");

  @Option(
      names = "--activations",
      paramLabel = "TYPE",
      description = "The inputs of products: int8 or float; by default ${DEFAULT-VALUE}.")
  String activations = QuantizationOptions.usual("activations");

  @Option(
      names = "--attention",
      paramLabel = "TYPE",
      description =
          "What attentions compute with, and caches of keys and values hold: int8 or float; by"
              + " default ${DEFAULT-VALUE}.")
  String attention = QuantizationOptions.usual("attention");

  @Option(
      names = "--functions",
      paramLabel = "TYPE",
      description =
          "The arguments of the activation functions of feed-forward networks, which become tables:"
              + " int8 or float; by default ${DEFAULT-VALUE}.")
  String functions = QuantizationOptions.usual("functions");

  @Option(
      names = "--residual",
      paramLabel = "TYPE",
      description =
          "The sums of skip connections and results of products: int8 or float; by default"
              + " ${DEFAULT-VALUE}.")
  String residual = QuantizationOptions.usual("residual");

  @Option(
      names = "--range",
      paramLabel = "CHOICE",
      description =
          "The range of an input: minmax, percentile, or mse for the least squared error; by"
              + " default ${DEFAULT-VALUE}.")
  String range = QuantizationOptions.usual("range");

  @Option(
      names = "--percentile",
      paramLabel = "P",
      description =
          "The numbers within the range of percentile, in percent; by default ${DEFAULT-VALUE}.")
  String percentile = QuantizationOptions.usual("percentile");

  @Option(
      names = "--smooth",
      paramLabel = "ALPHA",
      description =
          "How far outliers of features after a norm move into the matrices, from 0 (not at all) to"
              + " 1; by default ${DEFAULT-VALUE}.")
  String smoothing = QuantizationOptions.usual("smooth");

  @Option(
      names = "--max-error",
      paramLabel = "E",
      description =
          "The relative error of a product from which its matrix gets 8 bits, and then its input"
              + " stays float, and of an attention, activation function or residual sum from which it"
              + " stays float; by default none.")
  String largestError = QuantizationOptions.usual("max-error");

  @Option(
      names = "--float",
      paramLabel = "NODE",
      description =
          "The name of a product, attention, function or sum that stays float, as in the table; may"
              + " be repeated.")
  List<String> excluded = new ArrayList<>();

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Only the first N samples; by default ${DEFAULT-VALUE}.")
  String samples = QuantizationOptions.usual("samples");

  @Option(
      names = "--mean",
      paramLabel = "X",
      description = "As for 'partita evaluate'; by default ${DEFAULT-VALUE}.")
  String mean = QuantizationOptions.usual("mean");

  @Option(
      names = "--std",
      paramLabel = "X",
      description = "As for 'partita evaluate'; by default ${DEFAULT-VALUE}.")
  String deviation = QuantizationOptions.usual("std");

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Samples to run in parallel; by default the number of processors.")
  String threads = QuantizationOptions.usual("threads");

  @Mixin ModelOptions options = new ModelOptions();

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    verifyOutput();
    OutputFile.verify(output);
    QuantizationStep step = QuantizationOptions.step(given(), excluded, this::wrong);
    PrintWriter err = spec.commandLine().getErr();
    Quantization.Quantized quantized;
    try (Progress progress = Progress.start(err, "starting")) {
      quantized = step.run(model.file(), options.dims, options.values, progress::note, progress);
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

  private Map<String, String> given() {
    return Map.ofEntries(
        Map.entry(QuantizationOptions.CALIBRATION, calibration.toString()),
        Map.entry("array", array),
        Map.entry("weights", weights),
        Map.entry("group", group),
        Map.entry("activations", activations),
        Map.entry("attention", attention),
        Map.entry("functions", functions),
        Map.entry("residual", residual),
        Map.entry("range", range),
        Map.entry("percentile", percentile),
        Map.entry("smooth", smoothing),
        Map.entry("max-error", largestError),
        Map.entry("samples", samples),
        Map.entry("mean", mean),
        Map.entry("std", deviation),
        Map.entry("threads", threads));
  }

  private ParameterException wrong(String option, String expected, String found) {
    return new ParameterException(
        spec.commandLine(), "--" + option + " takes " + expected + ", not " + found);
  }

  private void verifyOutput() {
    Path file = model.file();
    List<Path> given = new ArrayList<>(Files.exists(file) ? ModelFile.parts(file) : List.of());
    given.add(calibration);
    for (Path written : List.of(output, Quantization.data(output))) {
      if (given.stream().anyMatch(part -> isSame(part, written))) {
        throw new ParameterException(
            spec.commandLine(),
            "-o takes another file than the model and its calibration data, not "
                + output
                + ": it would replace "
                + written);
      }
    }
  }

  /** Whether two names are of one file. */
  private static boolean isSame(Path file, Path other) {
    try {
      return Files.isSameFile(file, other);
    } catch (IOException missing) {
      return false;
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
                result.attentions().stream().map(Quantization.Site::name),
                result.functions().stream().map(Quantization.Site::name),
                result.residuals().stream().map(Quantization.Site::name))
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
    result.attentions().forEach(each -> lines.add(line(name, "attention", each)));
    result.functions().forEach(each -> lines.add(line(name, "function", each)));
    result.residuals().forEach(each -> lines.add(line(name, "sum", each)));
    lines.add(result.summary());
    return lines;
  }

  /** A row of what has no matrix of its own. */
  private static String line(String name, String kind, Quantization.Site site) {
    return String.format(
        Locale.ROOT,
        name + "  %-11s %-7s %-6s %8.2f%% %8.2f%% %4.1f dB",
        site.name(),
        kind,
        "",
        site.bits() == 8 ? "int8" : "float",
        100 * site.ownError(),
        100 * site.error(),
        site.decibels());
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
    result.outputError().ifPresent(error -> report.put("outputError", error));
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
    report.put("attentions", fields("product", result.attentions()));
    report.put("functions", fields("function", result.functions()));
    report.put("residuals", fields("sum", result.residuals()));
    return report;
  }

  /**
   * @param kind the key of the name
   */
  private static List<Map<String, Object>> fields(String kind, List<Quantization.Site> sites) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (Quantization.Site site : sites) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put(kind, site.name());
      fields.put("inputBits", site.bits());
      fields.put("ownError", site.ownError());
      fields.put("error", site.error());
      all.add(fields);
    }
    return all;
  }
}
