package io.partita.driver.quantize;

import io.partita.driver.evaluate.ObservedRuns;
import io.partita.driver.quantize.Quantization.Settings;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.NormScales;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizableModel;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.ir.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;

/**
 * The numbers that values of a model have on data, from which the ranges of codes are chosen.
 *
 * @param values what was seen of each value, by its name
 * @param factors by which the features of values are divided whose outliers are smoothed
 */
record Calibration(Map<String, Seen> values, Map<String, double[]> factors) {
  /** The rows of each value on which errors are measured. */
  private static final int ROWS = 256;

  /** The numbers of a value after its features were divided, and some rows before. */
  record Seen(Histogram histogram, SampledRows rows) {
    Seen plus(Seen other) {
      return new Seen(histogram.plus(other.histogram), rows.plus(other.rows));
    }
  }

  /**
   * Runs a model on all samples, twice: ranges come before histograms.
   *
   * @param inputs the names of the values, which the runs show
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#RANGE} if a value
   *     has no range
   */
  static Calibration of(
      ObservedRuns runs,
      List<String> inputs,
      QuantizableModel model,
      List<Product> products,
      Settings settings) {
    Map<String, FeatureExtents> extents = extents(runs, inputs);
    extents.forEach((name, seen) -> seen.verified(name));
    Map<String, double[]> factors = factors(model, products, extents, settings);
    return new Calibration(seen(runs, extents, factors), factors);
  }

  /** Some rows of a value. */
  SampledRows rows(String value) {
    return values.get(value).rows();
  }

  /** The factors by which the features of a value are divided, if its outliers are smoothed. */
  Optional<double[]> divisors(String value) {
    return Optional.ofNullable(factors.get(value));
  }

  /**
   * Chooses the code of a value within the model.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode#RANGE} if its range
   *     is too small
   */
  Affine code(String value, Settings settings) {
    Histogram all = values.get(value).histogram();
    Affine code = settings.ranges().code(all, settings.percentile());
    if (code.scale() < Float.MIN_NORMAL) {
      throw QuantizeCode.RANGE.at(
          "value \"" + value + "\"",
          "a range that has 255 steps",
          "a range without any, of numbers from " + (float) all.low() + " to " + (float) all.high(),
          "choose --range minmax, calibrate with more varied data, or leave what reads the value"
              + " float with --float");
    }
    return code;
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
}
