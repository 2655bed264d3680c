package io.partita.driver.evaluate;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.TensorHash;
import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.SyncCalibration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The measurements of a search for a mix of methods, as JSON. They can be used again, whatever the
 * limit and the methods.
 *
 * @param file the file; empty to keep measurements only in memory
 * @param model what they belong to
 * @param calibration a hash of the calibration, or empty
 * @param metric such as {@code perplexity}; empty before the first measurement
 * @param isLargerBetter whether a better model has a larger value
 * @param measured the measurements by rules
 */
record TuningFile(
    Optional<Path> file,
    MeasuredModel model,
    String calibration,
    String metric,
    boolean isLargerBetter,
    SequencedMap<String, Measured> measured) {
  private static final String FORMAT = "partita tuning 1";

  /**
   * The model with some rules.
   *
   * @param value the value of the metric
   * @param mean the mean from which it is computed
   * @param bytes the bytes that all devices send per token
   */
  record Measured(double value, double mean, double bytes) {}

  TuningFile {
    measured = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(measured));
  }

  /**
   * Returns the contents of a file, or no measurements if there is no file.
   *
   * @throws PartitaException with {@link MetricCode#TUNING_FILE} if it belongs to something else
   */
  static TuningFile begun(
      Optional<Path> file, MeasuredModel model, Optional<SyncCalibration> calibration) {
    String hash = calibration.map(TuningFile::hash).orElse("");
    if (file.isEmpty() || !Files.exists(file.get())) {
      return new TuningFile(file, model, hash, "", false, new LinkedHashMap<>());
    }
    TuningFile there = read(file.get());
    if (!there.model.equals(model) || !there.calibration.equals(hash)) {
      throw MetricCode.TUNING_FILE.at(
          file.get().toString(),
          "no file yet, or one of this model, which is resumed",
          "measurements of another model, other data, other devices or another calibration",
          "choose another file with -o, or delete this one");
    }
    return there;
  }

  private static String hash(SyncCalibration calibration) {
    TensorHash hash = new TensorHash();
    for (SyncCalibration.Sum sum : calibration.sums()) {
      FeatureRanges ranges = sum.ranges();
      hash.add(sum.weights())
          .add(Arrays.deepToString(ranges.minimum()))
          .add(Arrays.deepToString(ranges.maximum()))
          .add(Arrays.toString(ranges.leastSum()))
          .add(Arrays.toString(ranges.largestSum()))
          .add(Arrays.deepToString(ranges.leastPartial()))
          .add(Arrays.deepToString(ranges.largestPartial()));
    }
    calibration.codebooks().forEach(book -> hash.add(Arrays.toString(book.centroids())));
    return hash.text();
  }

  /** Adds a measurement and writes the file. */
  TuningFile with(String rules, Evaluation.Result result) {
    SequencedMap<String, Measured> more = new LinkedHashMap<>(measured);
    more.put(rules, new Measured(result.value(), result.mean(), result.bytesPerToken()));
    TuningFile updated =
        new TuningFile(file, model, calibration, result.metric(), result.isLargerBetter(), more);
    file.ifPresent(updated::write);
    return updated;
  }

  private static TuningFile read(Path file) {
    Map<String, Object> json = MeasurementFile.read(file, FORMAT, found -> broken(file, found));
    try {
      List<String> weights = new ArrayList<>();
      ((List<?>) json.get("weights")).forEach(each -> weights.add((String) each));
      SequencedMap<String, Measured> measured = new LinkedHashMap<>();
      for (Object each : (List<?>) json.get("measured")) {
        Map<?, ?> fields = (Map<?, ?>) each;
        measured.put(
            (String) fields.get("sync"),
            new Measured(number(fields, "value"), number(fields, "mean"), number(fields, "bytes")));
      }
      return new TuningFile(
          Optional.of(file),
          new MeasuredModel((String) json.get("mesh"), (String) json.get("data"), weights),
          (String) json.get("calibration"),
          (String) json.get("metric"),
          (Boolean) json.get("largerIsBetter"),
          measured);
    } catch (ClassCastException | NullPointerException misshapen) {
      throw broken(file, "JSON of another shape");
    }
  }

  private static double number(Map<?, ?> fields, String name) {
    return ((Number) fields.get(name)).doubleValue();
  }

  private static PartitaException broken(Path file, String found) {
    return MetricCode.TUNING_FILE.at(
        file.toString(),
        "a file that partita tune wrote",
        found,
        "choose another file with -o, or delete this one");
  }

  private void write(Path to) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put(MeasurementFile.FORMAT, FORMAT);
    json.put("mesh", model.mesh());
    json.put("metric", metric);
    json.put("largerIsBetter", isLargerBetter);
    json.put("data", model.data());
    json.put("calibration", calibration);
    json.put("weights", model.weights());
    List<Map<String, Object>> results = new ArrayList<>();
    measured.forEach(
        (rules, each) -> {
          Map<String, Object> fields = new LinkedHashMap<>();
          fields.put("sync", rules);
          fields.put("value", each.value);
          fields.put("mean", each.mean);
          fields.put("bytes", each.bytes);
          results.add(fields);
        });
    json.put("measured", results);
    try {
      byte[] bytes = JSON.std.asString(json).getBytes(StandardCharsets.UTF_8);
      OutputFile.write(to, out -> out.write(bytes));
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
