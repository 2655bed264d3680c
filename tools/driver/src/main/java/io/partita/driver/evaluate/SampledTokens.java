package io.partita.driver.evaluate;

import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Random samples of the tokens of some syncs, kept in a file beside an unfinished calibration, from
 * which it is resumed.
 */
final class SampledTokens {
  private static final String SUFFIX = ".tokens";
  private static final String IDENTITY = "identity";
  private static final String SAMPLES = "samples";

  private final Path file;
  private final String identity;
  private final List<Reservoir> reservoirs;
  private int samples;

  private SampledTokens(Path file, String identity, List<Reservoir> reservoirs, int samples) {
    this.file = file;
    this.identity = identity;
    this.reservoirs = reservoirs;
    this.samples = samples;
  }

  /**
   * Continues the file beside a calibration, or begins without one.
   *
   * @param calibration the calibration's file
   * @param identity differs for other calibrations
   * @param features of the tokens of each sync
   * @param capacity the largest number of tokens of each sync
   * @throws PartitaException with {@link MetricCode#CALIBRATION_FILE} if the file belongs to
   *     another calibration
   */
  static SampledTokens open(
      Path calibration, String identity, List<Integer> features, int capacity) {
    Path file = calibration.resolveSibling(calibration.getFileName() + SUFFIX);
    List<Reservoir> none =
        features.stream()
            .map(width -> new Reservoir(width, capacity))
            .collect(Collectors.toCollection(ArrayList::new));
    if (!Files.exists(file)) {
      return new SampledTokens(file, identity, none, 0);
    }
    return read(file, identity, features, capacity)
        .orElseThrow(
            () ->
                MetricCode.CALIBRATION_FILE.at(
                    file.toString(),
                    "no file yet, or the tokens of this calibration, which is resumed",
                    "those of another one",
                    "choose another file with -o, or delete this one"));
  }

  private static Optional<SampledTokens> read(
      Path file, String identity, List<Integer> features, int capacity) {
    Map<String, Tensor> arrays = Npz.read(file);
    Tensor samples = arrays.get(SAMPLES);
    if (!text(identity).equals(arrays.get(IDENTITY)) || samples == null || samples.size() != 1) {
      return Optional.empty();
    }
    List<Reservoir> reservoirs = new ArrayList<>();
    for (int i = 0; i < features.size(); i++) {
      Tensor seen = arrays.get("seen" + i);
      Tensor vectors = arrays.get("vectors" + i);
      if (seen == null || vectors == null) {
        return Optional.empty();
      }
      reservoirs.add(new Reservoir(features.get(i), capacity, seen.getLong(0), vectors.floats()));
    }
    return Optional.of(new SampledTokens(file, identity, reservoirs, (int) samples.getLong(0)));
  }

  private static Tensor text(String text) {
    return Tensor.longs(Shape.of(text.length()), text.chars().asLongStream().toArray());
  }

  /** Offers the tokens of the next sample, by sync. */
  void add(List<float[]> tokens) {
    for (int i = 0; i < reservoirs.size(); i++) {
      reservoirs.get(i).add(tokens.get(i));
    }
    samples++;
  }

  /** The number of samples offered so far. */
  int samples() {
    return samples;
  }

  /** The sampled tokens of a sync. */
  float[] vectors(int sync) {
    return reservoirs.get(sync).vectors();
  }

  void write() {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    arrays.put(IDENTITY, text(identity));
    arrays.put(SAMPLES, Tensor.longs(Shape.of(1), samples));
    for (int i = 0; i < reservoirs.size(); i++) {
      float[] vectors = reservoirs.get(i).vectors();
      arrays.put("seen" + i, Tensor.longs(Shape.of(1), reservoirs.get(i).seen()));
      arrays.put("vectors" + i, Tensor.floats(Shape.of(vectors.length), vectors));
    }
    OutputFile.write(file, out -> Npz.write(arrays, out));
  }

  void delete() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException failure) {
      throw OutputFile.failure(file, failure);
    }
  }
}
