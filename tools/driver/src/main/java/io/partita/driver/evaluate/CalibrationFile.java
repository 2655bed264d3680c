package io.partita.driver.evaluate;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.sync.Codebook;
import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.Residual;
import io.partita.passes.mesh.sync.SumErrors;
import io.partita.passes.mesh.sync.SyncCalibration;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * A calibration as JSON.
 *
 * @param data a hash of its samples
 * @param sequences the number of measured sequences
 * @param wanted the number of sequences to measure
 * @param books the number of codebooks to train
 */
public record CalibrationFile(
    SyncCalibration calibration, String data, int sequences, int wanted, int books) {
  private static final String FORMAT = "partita calibration 3";

  /** A calibration of sums. */
  CalibrationFile(SyncCalibration calibration, String data, int sequences, int wanted) {
    this(calibration, data, sequences, wanted, 0);
  }

  /** Returns the same with one more codebook. */
  CalibrationFile with(Codebook book) {
    List<Codebook> more = new ArrayList<>(calibration.codebooks());
    more.add(book);
    SyncCalibration all =
        new SyncCalibration(calibration.source(), calibration.mesh(), calibration.sums(), more);
    return new CalibrationFile(all, data, sequences, wanted, books);
  }

  /**
   * @throws PartitaException with {@link MetricCode#CALIBRATION_FILE} if it isn't one, or isn't
   *     complete
   */
  public static CalibrationFile read(Path file) {
    CalibrationFile read = readAny(file);
    int found = read.calibration.codebooks().size();
    if (found < read.books) {
      throw MetricCode.CALIBRATION_FILE.at(
          file.toString(),
          "a complete calibration, of " + read.books + " codebooks",
          found + " codebooks",
          "run the same partita calibrate again, which resumes it");
    }
    if (read.sequences < read.wanted) {
      throw MetricCode.CALIBRATION_FILE.at(
          file.toString(),
          "a complete calibration, of " + read.wanted + " sequences",
          read.sequences + " sequences",
          "run the same partita calibrate again, which resumes it");
    }
    return read;
  }

  /** Like {@link #read}, but also accepts an incomplete file. */
  static CalibrationFile readAny(Path file) {
    Map<String, Object> json = MeasurementFile.read(file, FORMAT, found -> broken(file, found));
    try {
      List<SyncCalibration.Sum> sums = new ArrayList<>();
      for (Object each : (List<?>) json.get("sums")) {
        Map<?, ?> sum = (Map<?, ?>) each;
        FeatureRanges ranges =
            new FeatureRanges(
                lines(sum.get("minimum")),
                lines(sum.get("maximum")),
                line(sum.get("leastSum")),
                line(sum.get("largestSum")),
                lines(sum.get("leastPartial")),
                lines(sum.get("largestPartial")));
        if (!isFull(ranges)) {
          throw broken(file, "ranges of different lengths at " + sum.get("name"));
        }
        sums.add(
            new SyncCalibration.Sum(
                text(sum.get("name")),
                text(sum.get("weights")),
                ranges,
                errors((Map<?, ?>) sum.get("errors"), sum.get("norm"))));
      }
      List<Codebook> codebooks = new ArrayList<>();
      for (Object each : (List<?>) json.getOrDefault("codebooks", List.of())) {
        codebooks.add(codebook((Map<?, ?>) each, file));
      }
      return new CalibrationFile(
          new SyncCalibration(file.toString(), text(json.get("mesh")), sums, codebooks),
          text(json.get("data")),
          count(json.get("sequences"), file),
          count(json.get("wanted"), file),
          json.containsKey("books") ? count(json.get("books"), file) : 0);
    } catch (ClassCastException
        | NullPointerException
        | IndexOutOfBoundsException
        | IllegalArgumentException misshapen) {
      throw broken(file, "JSON of another shape");
    }
  }

  private static String text(Object json) {
    return Objects.requireNonNull((String) json);
  }

  private static int count(Object number, Path file) {
    long count = ((Number) number).longValue();
    if (count < 1 || count > Integer.MAX_VALUE) {
      throw broken(file, number + " sequences");
    }
    return (int) count;
  }

  private static SumErrors errors(Map<?, ?> squares, Object norm) {
    if (squares == null) {
      return SumErrors.NONE;
    }
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    squares.forEach((key, each) -> numbers.put((String) key, ((Number) each).doubleValue()));
    return new SumErrors(numbers, ((Number) norm).doubleValue());
  }

  private static Codebook codebook(Map<?, ?> json, Path file) {
    float[] centroids = floats(json.get("centroids"));
    Codebook book =
        new Codebook(
            text(json.get("name")),
            text(json.get("weights")),
            ((Number) json.get("features")).intValue(),
            ((Number) json.get("groups")).intValue(),
            ((Number) json.get("size")).intValue(),
            centroids,
            new Residual(
                ((Number) json.get("error")).doubleValue(),
                ((Number) json.get("distance")).doubleValue(),
                ((Number) json.get("noisyDistance")).doubleValue(),
                floats(json.get("residualMean")),
                floats(json.get("residualCovariance"))));
    if (book.size() < 1
        || book.groups() < 1
        || book.features() % book.groups() != 0
        || centroids.length != (long) book.size() * book.features()) {
      throw broken(file, "a codebook with " + centroids.length + " numbers at " + book.name());
    }
    for (float each : centroids) {
      if (!Float.isFinite(each)) {
        throw broken(file, "the centroid element " + each + " at " + book.name());
      }
    }
    return book;
  }

  private static Map<String, Object> json(Codebook book) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", book.name());
    fields.put("weights", book.weights());
    fields.put("features", book.features());
    fields.put("groups", book.groups());
    fields.put("size", book.size());
    fields.put("error", book.residual().error());
    fields.put("distance", book.residual().distance());
    fields.put("noisyDistance", book.residual().noisyDistance());
    fields.put("residualMean", text(book.residual().mean()));
    fields.put("residualCovariance", text(book.residual().covariance()));
    fields.put("centroids", text(book.centroids()));
    return fields;
  }

  /** Numbers as Base64 of little-endian f32. */
  private static String text(float[] numbers) {
    ByteBuffer bytes =
        ByteBuffer.allocate(numbers.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(numbers);
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  private static float[] floats(Object text) {
    ByteBuffer bytes =
        ByteBuffer.wrap(Base64.getDecoder().decode((String) text)).order(ByteOrder.LITTLE_ENDIAN);
    float[] numbers = new float[bytes.remaining() / Float.BYTES];
    bytes.asFloatBuffer().get(numbers);
    return numbers;
  }

  private static boolean isFull(FeatureRanges ranges) {
    double[][] minimum = ranges.minimum();
    double[][] maximum = ranges.maximum();
    return minimum.length == maximum.length
        && minimum.length > 0
        && ranges.leastSum().length == minimum[0].length
        && ranges.largestSum().length == minimum[0].length
        && ranges.leastPartial().length == ranges.partialSums()
        && ranges.largestPartial().length == ranges.partialSums()
        && Stream.of(minimum, maximum, ranges.leastPartial(), ranges.largestPartial())
            .flatMap(Arrays::stream)
            .allMatch(line -> line.length == minimum[0].length);
  }

  private static PartitaException broken(Path file, String found) {
    return MetricCode.CALIBRATION_FILE.at(
        file.toString(),
        "a file that partita calibrate wrote",
        found,
        "write one with partita calibrate MODEL --data FILE --devices N -o " + file);
  }

  private static double[][] lines(Object json) {
    return ((List<?>) json).stream().map(CalibrationFile::line).toArray(double[][]::new);
  }

  private static double[] line(Object json) {
    return ((List<?>) json)
        .stream()
            .mapToDouble(number -> number == null ? Double.NaN : ((Number) number).doubleValue())
            .toArray();
  }

  void write(Path file) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put(MeasurementFile.FORMAT, FORMAT);
    json.put("mesh", calibration.mesh());
    json.put("data", data);
    json.put("rate", FeatureRanges.RATE);
    json.put("sequences", sequences);
    json.put("wanted", wanted);
    json.put(
        "sums",
        calibration.sums().stream()
            .map(
                sum -> {
                  Map<String, Object> fields = new LinkedHashMap<>();
                  fields.put("name", sum.name());
                  fields.put("weights", sum.weights());
                  fields.put("minimum", lists(sum.ranges().minimum()));
                  fields.put("maximum", lists(sum.ranges().maximum()));
                  fields.put("leastSum", list(sum.ranges().leastSum()));
                  fields.put("largestSum", list(sum.ranges().largestSum()));
                  fields.put("leastPartial", lists(sum.ranges().leastPartial()));
                  fields.put("largestPartial", lists(sum.ranges().largestPartial()));
                  if (!sum.errors().squares().isEmpty()) {
                    fields.put("norm", sum.errors().norm());
                    fields.put("errors", sum.errors().squares());
                  }
                  return fields;
                })
            .toList());
    if (books > 0) {
      json.put("books", books);
      json.put("codebooks", calibration.codebooks().stream().map(CalibrationFile::json).toList());
    }
    try {
      byte[] bytes = JSON.std.asString(json).getBytes(StandardCharsets.UTF_8);
      OutputFile.write(file, out -> out.write(bytes));
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static List<List<Double>> lists(double[][] lines) {
    return Arrays.stream(lines).map(CalibrationFile::list).toList();
  }

  /** JSON has only finite numbers. */
  private static List<Double> list(double[] line) {
    List<Double> list = new ArrayList<>();
    for (double number : line) {
      list.add(Double.isFinite(number) ? (Double) number : null);
    }
    return list;
  }
}
