package io.partita.driver.quantize;

import io.partita.driver.Compilation;
import io.partita.driver.OutputFile;
import io.partita.driver.evaluate.ObservedRuns;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.AttentionSite;
import io.partita.frontend.onnx.quantize.FunctionSite;
import io.partita.frontend.onnx.quantize.NormScales;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizableModel;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.frontend.onnx.quantize.QuantizedFile;
import io.partita.frontend.onnx.quantize.QuantizedGraph;
import io.partita.frontend.onnx.quantize.QuantizedMatrix;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Quantizes the products of a model after training, by the values that it has on data. */
public final class Quantization {
  /** The rows of each input on which errors are measured. */
  private static final int ROWS = 256;

  /** The most samples on which the quantized model is compared with the float model. */
  private static final int COMPARED = 8;

  /**
   * How to quantize.
   *
   * @param weightBits 8, or 4 with a scale for each group of rows
   * @param group the rows of a group; not used with 8 bits
   * @param activations whether the inputs of products are quantized too
   * @param attention whether attentions compute with integers, and caches are integers
   * @param functions whether the arguments of activation functions are quantized, too
   * @param percentile the part of the numbers within the range, in percent
   * @param smoothing the part of outliers that moves into the matrices, from 0 to 1
   * @param largestError the relative error of a product beyond which it gets more bits, and of an
   *     activation function beyond which it stays float
   * @param excluded the names of products that stay float
   */
  public record Settings(
      int weightBits,
      int group,
      boolean activations,
      boolean attention,
      boolean functions,
      RangeChoice ranges,
      double percentile,
      double smoothing,
      double largestError,
      List<String> excluded) {
    public Settings {
      excluded = List.copyOf(excluded);
    }
  }

  public record Request(
      Compilation.Request model, ObservedRuns.Data data, Settings settings, Path output) {}

  /**
   * A product of the quantized model.
   *
   * @param weightBits 32 if it stays float
   * @param inputBits 32 if its input stays float
   * @param ownError the relative L2 error of its result, if only it is quantized
   * @param error the relative L2 error of its result in the quantized model
   */
  public record Layer(
      Product product, int weightBits, int inputBits, double ownError, double error) {
    /** The ratio of signal to quantization noise in the quantized model, in decibels. */
    public double decibels() {
      return RelativeError.decibels(error);
    }
  }

  /**
   * An attention of the quantized model.
   *
   * @param error the relative L2 error of its result in the quantized model
   */
  public record Attention(AttentionSite site, double error) {
    /** The ratio of signal to quantization noise, in decibels. */
    public double decibels() {
      return RelativeError.decibels(error);
    }
  }

  /**
   * An activation function of the quantized model.
   *
   * @param bits those of its argument; 32 if it stays float
   * @param ownError the relative L2 error of its result, if only its argument is quantized
   * @param error the relative L2 error of its result in the quantized model
   */
  public record Activation(FunctionSite site, int bits, double ownError, double error) {
    /** The ratio of signal to quantization noise, in decibels. */
    public double decibels() {
      return RelativeError.decibels(error);
    }
  }

  /**
   * The quantized model beside the float one.
   *
   * @param metric the name of the metric
   * @param exact the metric of the float model on the compared samples
   * @param value the metric of the quantized model on these
   */
  public record Result(
      List<Layer> layers,
      List<Attention> attentions,
      List<Activation> activations,
      int samples,
      int compared,
      int smoothed,
      String metric,
      double exact,
      double value) {}

  private final Consumer<Diagnostic> notes;
  private final ProgressListener progress;

  /**
   * @param notes receives notes for the user
   * @param progress receives the current step
   */
  public Quantization(Consumer<Diagnostic> notes, ProgressListener progress) {
    this.notes = notes;
    this.progress = progress;
  }

  /**
   * Writes the quantized model.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode} if it can't be
   *     quantized or the data gives no ranges; if the data doesn't fit or a file can't be read or
   *     written
   */
  public Result run(Request request) {
    progress.step("reading " + request.model().model().getFileName());
    QuantizableModel model = QuantizableModel.of(OnnxModel.read(request.model().model()));
    QuantizedSites sites = QuantizedSites.of(model, request);
    List<Product> products = sites.products();
    Settings settings = request.settings();
    List<String> inputs = sites.inputs();
    SequencedMap<String, String> shown = sites.results();
    inputs.forEach(input -> shown.put(QuantizedSites.INPUT + input, input));
    try (ObservedRuns runs =
        ObservedRuns.of(request.model(), model.model(), shown, request.data(), notes, progress)) {
      Map<String, FeatureExtents> extents = extents(runs, inputs);
      extents.forEach((name, seen) -> seen.verified(name));
      Map<String, double[]> factors = factors(model, products, extents, settings);
      Map<String, Seen> seen = seen(runs, extents, factors);
      Map<Product, QuantizedGraph.Choice> choices = new LinkedHashMap<>();
      Map<Product, Double> errors = new LinkedHashMap<>();
      for (Product product : products) {
        progress.step("quantizing " + product.name());
        progress.share((double) choices.size() / products.size());
        Seen input = seen.get(product.input());
        Optional<double[]> divisors = Optional.ofNullable(factors.get(product.input()));
        Optional<Affine> code =
            settings.activations()
                ? Optional.of(settings.ranges().code(input.histogram(), settings.percentile()))
                : Optional.empty();
        for (QuantizedGraph.Choice choice : ladder(product, divisors, code, settings)) {
          double error = input.rows().error(product, choice, divisors);
          choices.put(product, choice);
          errors.put(product, error);
          if (error <= settings.largestError()) {
            break;
          }
        }
      }
      List<QuantizedGraph.AttentionChoice> codes =
          sites.attentions().stream().map(site -> choice(site, seen, settings)).toList();
      List<FunctionCode> arguments =
          sites.functions().stream()
              .map(site -> code(model, site, seen.get(site.input()), settings))
              .toList();
      List<QuantizedGraph.FunctionChoice> coded =
          arguments.stream()
              .filter(each -> each.isUsed(settings))
              .map(each -> new QuantizedGraph.FunctionChoice(each.site(), each.code()))
              .toList();
      progress.step("writing " + request.output());
      write(
          new QuantizedFile(
              QuantizedGraph.of(model, choices, factors, codes, coded), model.model()),
          request);
      return compared(request, runs, sites, arguments, choices, errors, factors.size());
    }
  }

  private static FunctionCode code(
      QuantizableModel model, FunctionSite site, Seen seen, Settings settings) {
    return FunctionCode.of(
        model, site, settings.ranges().code(seen.histogram(), settings.percentile()), seen.rows());
  }

  private static QuantizedGraph.AttentionChoice choice(
      AttentionSite site, Map<String, Seen> seen, Settings settings) {
    return new QuantizedGraph.AttentionChoice(
        site,
        site.measured().stream()
            .map(use -> seen.get(use.value()).histogram())
            .map(all -> settings.ranges().code(all, settings.percentile()).centred())
            .toList());
  }

  private static Map<String, FeatureExtents> extents(ObservedRuns runs, List<String> inputs) {
    return runs
        .each(
            "measured the ranges of",
            runs.samples(),
            outputs -> {
              Map<String, FeatureExtents> found = new LinkedHashMap<>();
              inputs.forEach(
                  input ->
                      found.put(
                          input,
                          FeatureExtents.of(input, outputs.get(QuantizedSites.INPUT + input))));
              return found;
            },
            (one, other) -> joined(one, other, FeatureExtents::joined))
        .stream()
        .reduce((one, other) -> joined(one, other, FeatureExtents::joined))
        .orElseThrow();
  }

  private static <V> Map<String, V> joined(
      Map<String, V> one, Map<String, V> other, BinaryOperator<V> join) {
    Map<String, V> all = new LinkedHashMap<>();
    one.forEach((name, value) -> all.put(name, join.apply(value, other.get(name))));
    return all;
  }

  private static Map<String, double[]> factors(
      QuantizableModel model,
      List<Product> products,
      Map<String, FeatureExtents> extents,
      Settings settings) {
    Map<String, double[]> factors = new LinkedHashMap<>();
    if (settings.smoothing() == 0 || !settings.activations()) {
      return factors;
    }
    NormScales norms = new NormScales(model, products);
    Map<String, List<Product>> readers =
        products.stream().collect(Collectors.groupingBy(Product::input));
    extents.forEach(
        (input, seen) -> {
          if (norms.isScaled(input)) {
            factors.put(input, Smoothing.factors(seen, readers.get(input), settings.smoothing()));
          }
        });
    return factors;
  }

  /** The numbers of an input after its features were divided, and some rows before. */
  private record Seen(Histogram histogram, SampledRows rows) {
    Seen plus(Seen other) {
      return new Seen(histogram.plus(other.histogram), rows.plus(other.rows));
    }
  }

  private static Map<String, Seen> seen(
      ObservedRuns runs, Map<String, FeatureExtents> extents, Map<String, double[]> factors) {
    int rows = Math.ceilDiv(ROWS, runs.samples());
    return runs
        .each(
            "counted the values of",
            runs.samples(),
            outputs -> {
              Map<String, Seen> found = new LinkedHashMap<>();
              extents.forEach(
                  (input, range) -> {
                    Tensor value = outputs.get(QuantizedSites.INPUT + input);
                    Histogram histogram =
                        histogram(value, range, Optional.ofNullable(factors.get(input)));
                    found.put(input, new Seen(histogram, SampledRows.of(value, rows)));
                  });
              return found;
            },
            (one, other) -> joined(one, other, Seen::plus))
        .stream()
        .reduce((one, other) -> joined(one, other, Seen::plus))
        .orElseThrow();
  }

  private static Histogram histogram(
      Tensor value, FeatureExtents range, Optional<double[]> factors) {
    FeatureExtents divided = factors.map(range::divided).orElse(range);
    Histogram histogram = new Histogram(divided.least(), divided.most());
    int features = range.low().length;
    for (int i = 0; i < value.size(); i++) {
      double number = value.getDouble(i);
      histogram.add(factors.isPresent() ? number / factors.get()[i % features] : number);
    }
    return histogram;
  }

  /** Returns the quantizations of a product, each with more bits than the one before. */
  private static List<QuantizedGraph.Choice> ladder(
      Product product, Optional<double[]> factors, Optional<Affine> code, Settings settings) {
    float[] matrix = product.matrix(factors);
    QuantizedMatrix bytes = QuantizedMatrix.bytes(matrix, product.inner(), product.columns());
    List<QuantizedGraph.Choice> ladder = new ArrayList<>();
    if (settings.weightBits() < 8) {
      ladder.add(
          new QuantizedGraph.Choice(
              QuantizedMatrix.nibbles(matrix, product.inner(), product.columns(), settings.group()),
              code));
    }
    ladder.add(new QuantizedGraph.Choice(bytes, code));
    if (code.isPresent()) {
      ladder.add(new QuantizedGraph.Choice(bytes, Optional.empty()));
    }
    return ladder;
  }

  private static void write(QuantizedFile file, Request request) {
    Path output = request.output();
    QuantizedFile[] written = {file};
    if (file.hasData()) {
      String location = output.getFileName() + ".data";
      OutputFile.write(
          output.resolveSibling(location), out -> written[0] = file.writeData(out, location));
    }
    OutputFile.write(output, out -> written[0].writeModel(out));
  }

  private Result compared(
      Request request,
      ObservedRuns exact,
      QuantizedSites sites,
      List<FunctionCode> functions,
      Map<Product, QuantizedGraph.Choice> choices,
      Map<Product, Double> errors,
      int smoothed) {
    SequencedMap<String, String> shown = sites.results();
    int count = Math.min(COMPARED, exact.samples());
    List<Map<String, Tensor>> wanted = results(exact, shown, count);
    double value = exact.value();
    OnnxModel quantized = OnnxModel.read(request.output());
    try (ObservedRuns runs =
        ObservedRuns.of(
            request.model(), quantized, shown, request.data(), diagnostic -> {}, progress)) {
      List<Map<String, Tensor>> found = results(runs, shown, count);
      List<Layer> layers = new ArrayList<>();
      for (Product product : sites.products()) {
        QuantizedGraph.Choice choice = choices.get(product);
        layers.add(
            new Layer(
                product,
                choice.matrix().bits(),
                choice.input().isPresent() ? 8 : 32,
                errors.get(product),
                RelativeError.of(wanted, found, QuantizedSites.RESULT + product.name())));
      }
      List<Attention> compared =
          sites.attentions().stream()
              .map(
                  site ->
                      new Attention(
                          site,
                          RelativeError.of(wanted, found, QuantizedSites.RESULT + site.name())))
              .toList();
      List<Activation> activations =
          functions.stream()
              .map(
                  each ->
                      new Activation(
                          each.site(),
                          each.isUsed(request.settings()) ? 8 : 32,
                          each.error(),
                          RelativeError.of(
                              wanted, found, QuantizedSites.RESULT + each.site().name())))
              .toList();
      return new Result(
          layers,
          compared,
          activations,
          exact.samples(),
          count,
          smoothed,
          exact.metric(),
          value,
          runs.value());
    }
  }

  /** The last results of each sample. */
  private static List<Map<String, Tensor>> results(
      ObservedRuns runs, SequencedMap<String, String> shown, int count) {
    return runs.each(
        "compared",
        count,
        outputs -> {
          Map<String, Tensor> found = new LinkedHashMap<>();
          shown.keySet().forEach(name -> found.put(name, outputs.get(name)));
          return found;
        },
        (one, other) -> other);
  }
}
