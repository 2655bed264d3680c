package io.partita.driver.quantize;

import ai.onnx.proto.OnnxMl.ModelProto;
import io.partita.driver.Compilation;
import io.partita.driver.OutputFile;
import io.partita.driver.evaluate.ObservedRuns;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.AttentionSite;
import io.partita.frontend.onnx.quantize.FunctionSite;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizableModel;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.frontend.onnx.quantize.QuantizedFile;
import io.partita.frontend.onnx.quantize.QuantizedGraph;
import io.partita.frontend.onnx.quantize.ResidualSite;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Quantizes the products of a model after training, by the values that it has on data. */
public final class Quantization {
  /** The most samples on which the quantized model is compared with the float model. */
  private static final int COMPARED = 8;

  private static final int BYTE = 8;
  private static final int FLOAT = 32;

  /**
   * How to quantize.
   *
   * @param weightBits 8, or 4 with a scale for each group of rows
   * @param group the rows of a group; not used with 8 bits
   * @param activations whether the inputs of products are quantized too
   * @param attention whether attentions compute with integers, and caches are integers
   * @param functions whether the arguments of activation functions are quantized, too
   * @param residual whether the sums of the residual stream are quantized, too
   * @param percentile the part of the numbers within the range, in percent
   * @param smoothing the part of outliers that moves into the matrices, from 0 to 1
   * @param largestError the relative error of a product beyond which it gets more bits, and of an
   *     attention, activation function or residual sum beyond which it stays float
   * @param excluded the names of products, attentions, functions and sums that stay float
   */
  public record Settings(
      int weightBits,
      int group,
      boolean activations,
      boolean attention,
      boolean functions,
      boolean residual,
      RangeChoice ranges,
      double percentile,
      double smoothing,
      double largestError,
      List<String> excluded) {
    public Settings {
      excluded = List.copyOf(excluded);
    }
  }

  public record Request(Compilation.Request model, ObservedRuns.Data data, Settings settings) {}

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
   * An attention, an activation function or a sum of the residual stream of the quantized model.
   *
   * @param name the name of a node
   * @param bits those of what is quantized: an attention's operands, a function's argument, or the
   *     sum; 32 if it stays float
   * @param ownError the relative L2 error of its result, if only it is quantized
   * @param error the relative L2 error of its result in the quantized model
   */
  public record Site(String name, int bits, double ownError, double error) {
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
   * @param outputError the relative L2 error of the float outputs on these, if the metric isn't one
   *     of quality
   */
  public record Result(
      List<Layer> layers,
      List<Site> attentions,
      List<Site> functions,
      List<Site> residuals,
      int samples,
      int compared,
      int smoothed,
      String metric,
      double exact,
      double value,
      OptionalDouble outputError) {
    /** The metric in words, with the error of the outputs if there is one. */
    public String summary() {
      String compares =
          String.format(
              Locale.ROOT,
              "%s on %d calibration %s: %.4f, of the float model %.4f",
              metric,
              compared,
              compared == 1 ? "sample" : "samples",
              value,
              exact);
      return outputError.isEmpty()
          ? compares
          : String.format(
              Locale.ROOT,
              "%s; error of the outputs %.2f%%, SQNR %.1f dB",
              compares,
              100 * outputError.getAsDouble(),
              RelativeError.decibels(outputError.getAsDouble()));
    }
  }

  /**
   * A quantized model.
   *
   * @param source the float model, to whose external data it may refer
   */
  public record Quantized(OnnxModel source, OnnxModel model, Result result) {
    /**
     * Writes the model, and its data beside it if that belongs into another file.
     *
     * @throws io.partita.ir.diagnostic.PartitaException if a file can't be written
     */
    public void write(Path output) {
      QuantizedFile[] written = {new QuantizedFile(model.proto(), source)};
      if (written[0].hasData()) {
        Path data = data(output);
        OutputFile.write(
            data, out -> written[0] = written[0].writeData(out, data.getFileName().toString()));
      }
      OutputFile.write(output, out -> written[0].writeModel(out));
    }
  }

  /** The file of the data of a quantized model, if that isn't in the model's own. */
  public static Path data(Path output) {
    return output.resolveSibling(output.getFileName() + ".data");
  }

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
   * Quantizes a model.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode} if it can't be
   *     quantized or the data gives no ranges; if the data doesn't fit
   */
  public Quantized run(Request wanted, OnnxModel given) {
    QuantizableModel model = QuantizableModel.of(given);
    QuantizedSites sites = QuantizedSites.of(model, wanted);
    Request request =
        new Request(wanted.model(), wanted.data().without(sites.caches()), wanted.settings());
    List<Product> products = sites.products();
    Settings settings = request.settings();
    List<String> inputs = sites.inputs();
    SequencedMap<String, String> shown = sites.results();
    SequencedMap<String, String> observed = new LinkedHashMap<>(shown);
    inputs.forEach(input -> observed.put(QuantizedSites.INPUT + input, input));
    try (ObservedRuns runs =
        ObservedRuns.of(request.model(), given, observed, request.data(), notes, progress)) {
      Calibration seen = Calibration.of(runs, inputs, model, products, settings);
      SequencedMap<Product, ProductCode> coded = new LinkedHashMap<>();
      for (Product product : products) {
        progress.step("quantizing " + product.name());
        progress.share((double) coded.size() / products.size());
        coded.put(product, code(product, seen, settings));
      }
      List<FunctionCode> functions =
          sites.functions().stream().map(site -> code(model, site, seen, settings)).toList();
      List<ResidualCode> residuals =
          sites.residuals().stream().map(site -> code(site, seen, settings)).toList();
      Compared exact = compared(runs, shown, Math.min(COMPARED, runs.samples()));
      List<AttentionCode> attentions =
          sites.attentions().stream()
              .map(site -> attention(request, model, choice(site, seen, settings), exact))
              .toList();
      Codes codes = new Codes(coded, attentions, functions, residuals, seen.factors());
      OnnxModel quantized = given.with(codes.graph(model, settings));
      Compared found =
          compared(request, quantized, codes.caches(settings), shown, exact.samples().size());
      return new Quantized(given, quantized, codes.result(runs, settings, exact, found));
    }
  }

  /**
   * What is quantized, and how.
   *
   * @param factors of values whose outliers are smoothed
   */
  private record Codes(
      SequencedMap<Product, ProductCode> products,
      List<AttentionCode> attentions,
      List<FunctionCode> functions,
      List<ResidualCode> residuals,
      Map<String, double[]> factors) {
    ModelProto graph(QuantizableModel model, Settings settings) {
      Map<Product, QuantizedGraph.Choice> choices = new LinkedHashMap<>();
      products.forEach((product, code) -> choices.put(product, code.choice()));
      return QuantizedGraph.of(model, choices, factors, attentions(settings), values(settings));
    }

    private List<QuantizedGraph.AttentionChoice> attentions(Settings settings) {
      return attentions.stream()
          .filter(each -> each.isUsed(settings))
          .map(AttentionCode::choice)
          .toList();
    }

    /** The codes of caches of integers, by the names of their inputs. */
    Map<String, Affine> caches(Settings settings) {
      Map<String, Affine> caches = new LinkedHashMap<>();
      attentions(settings).forEach(choice -> choice.caches().forEach(caches::putIfAbsent));
      return caches;
    }

    private List<QuantizedGraph.ValueChoice> values(Settings settings) {
      return Stream.concat(
              functions.stream()
                  .filter(each -> each.isUsed(settings))
                  .map(each -> QuantizedGraph.ValueChoice.of(each.site(), each.code())),
              residuals.stream()
                  .filter(each -> each.isUsed(settings))
                  .map(each -> QuantizedGraph.ValueChoice.of(each.site(), each.code())))
          .toList();
    }

    /**
     * @param exact what the float model showed
     * @param found what the quantized one did
     */
    Result result(ObservedRuns runs, Settings settings, Compared exact, Compared found) {
      return new Result(
          products.entrySet().stream()
              .map(
                  each ->
                      new Layer(
                          each.getKey(),
                          each.getValue().choice().matrix().bits(),
                          bits(each.getValue().choice().input().isPresent()),
                          each.getValue().error(),
                          found.error(exact, each.getKey().name())))
              .toList(),
          sites(attentions, settings, exact, found),
          sites(functions, settings, exact, found),
          sites(residuals, settings, exact, found),
          runs.samples(),
          exact.samples().size(),
          factors.size(),
          runs.metric(),
          exact.value(),
          found.value(),
          runs.isQuality() ? OptionalDouble.empty() : OptionalDouble.of(found.error(exact)));
    }

    private static List<Site> sites(
        List<? extends SiteCode> codes, Settings settings, Compared exact, Compared found) {
      return codes.stream()
          .map(
              each ->
                  new Site(
                      each.name(),
                      bits(each.isUsed(settings)),
                      each.error(),
                      found.error(exact, each.name())))
          .toList();
    }

    private static int bits(boolean isQuantized) {
      return isQuantized ? BYTE : FLOAT;
    }
  }

  private static ProductCode code(Product product, Calibration seen, Settings settings) {
    String input = product.input();
    Optional<Affine> code =
        settings.activations() ? Optional.of(seen.code(input, settings)) : Optional.empty();
    return ProductCode.of(product, code, seen.divisors(input), seen.rows(input), settings);
  }

  private static FunctionCode code(
      QuantizableModel model, FunctionSite site, Calibration seen, Settings settings) {
    String input = site.input();
    return FunctionCode.of(model, site, seen.code(input, settings), seen.rows(input));
  }

  private static ResidualCode code(ResidualSite site, Calibration seen, Settings settings) {
    String sum = site.output();
    return ResidualCode.of(site, seen.code(sum, settings), seen.rows(sum));
  }

  private static QuantizedGraph.AttentionChoice choice(
      AttentionSite site, Calibration seen, Settings settings) {
    return new QuantizedGraph.AttentionChoice(
        site,
        site.measured().stream().map(use -> seen.code(use.value(), settings).centred()).toList());
  }

  /** Measures the error of an attention by runs of a model in which nothing else is quantized. */
  private AttentionCode attention(
      Request request,
      QuantizableModel model,
      QuantizedGraph.AttentionChoice choice,
      Compared exact) {
    AttentionSite site = choice.site();
    OnnxModel alone =
        model
            .model()
            .with(QuantizedGraph.of(model, Map.of(), Map.of(), List.of(choice), List.of()));
    SequencedMap<String, String> shown = new LinkedHashMap<>();
    shown.put(QuantizedSites.RESULT + site.name(), site.output());
    Compared found = compared(request, alone, choice.caches(), shown, exact.samples().size());
    return new AttentionCode(choice, found.error(exact, site.name()));
  }

  /**
   * What runs showed.
   *
   * @param samples the last results of each sample
   * @param value the metric
   */
  private record Compared(List<Map<String, Tensor>> samples, double value) {
    /** The relative L2 error of a named product, attention or function. */
    double error(Compared exact, String name) {
      return RelativeError.of(exact.samples, samples, Set.of(QuantizedSites.RESULT + name));
    }

    /** The relative L2 error of the outputs that are floats. */
    double error(Compared exact) {
      Set<String> outputs = new LinkedHashSet<>(samples.getFirst().keySet());
      outputs.removeIf(name -> name.startsWith(QuantizedSites.RESULT));
      outputs.retainAll(exact.samples.getFirst().keySet());
      return RelativeError.of(exact.samples, samples, outputs);
    }
  }

  /**
   * Runs a changed model.
   *
   * @param caches the codes of caches of integers, by the names of their inputs
   */
  private Compared compared(
      Request request,
      OnnxModel changed,
      Map<String, Affine> caches,
      SequencedMap<String, String> shown,
      int count) {
    ObservedRuns.Data data = request.data().quantized(caches);
    try (ObservedRuns runs =
        ObservedRuns.of(request.model(), changed, shown, data, diagnostic -> {}, progress)) {
      return compared(runs, shown, count);
    }
  }

  private static Compared compared(
      ObservedRuns runs, SequencedMap<String, String> shown, int count) {
    List<Map<String, Tensor>> samples =
        runs.each(
            "compared",
            count,
            outputs -> {
              Map<String, Tensor> found = new LinkedHashMap<>();
              shown.keySet().forEach(name -> found.put(name, outputs.get(name)));
              if (!runs.isQuality()) {
                outputs.forEach(
                    (name, output) -> {
                      if (output.element().isFloat() && !name.startsWith(QuantizedSites.INPUT)) {
                        found.put(name, output);
                      }
                    });
              }
              return found;
            },
            (one, other) -> other);
    return new Compared(samples, runs.value());
  }
}
