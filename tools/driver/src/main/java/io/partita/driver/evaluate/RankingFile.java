package io.partita.driver.evaluate;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.OutputFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.mesh.sync.BlockRanking;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A ranking of blocks as JSON, complete or not.
 *
 * @param mesh the mesh on which it is measured
 * @param metric such as {@code perplexity}
 * @param isLargerBetter whether a larger metric is better
 * @param data a hash of the samples that it is measured on, and of their number
 * @param weights the weights of each block's sum after attention
 * @param values the values of the metric by the number of last blocks with a dropped sync, from 0
 *     on
 * @param insensitive tau 1
 * @param sensitive tau 2
 * @param heads by block, its kv heads in the order in which devices get them to be scattered
 */
public record RankingFile(
    Path file,
    String mesh,
    String metric,
    boolean isLargerBetter,
    String data,
    List<String> weights,
    List<Double> values,
    double insensitive,
    double sensitive,
    Map<Integer, List<Integer>> heads) {
  private static final String FORMAT = "partita ranking 1";

  public RankingFile {
    weights = List.copyOf(weights);
    values = List.copyOf(values);
    heads = Collections.unmodifiableMap(new TreeMap<>(heads));
  }

  MeasuredModel model() {
    return new MeasuredModel(mesh, data, weights);
  }

  boolean isComplete() {
    return values.size() == weights.size() + 1;
  }

  /** The loss in the metric when a block's sync is dropped in addition to all later ones. */
  private double sensitivity(int block) {
    int dropped = weights.size() - block;
    double difference = values.get(dropped) - values.get(dropped - 1);
    return isLargerBetter ? -difference : difference;
  }

  /** The ranking of a complete file. */
  public BlockRanking ranking() {
    return new BlockRanking(
        file.toString(),
        mesh,
        insensitive,
        sensitive,
        IntStream.range(0, weights.size())
            .mapToObj(block -> new BlockRanking.Block(weights.get(block), sensitivity(block)))
            .toList(),
        heads);
  }

  RankingFile with(Map<Integer, List<Integer>> scattered) {
    return new RankingFile(
        file,
        mesh,
        metric,
        isLargerBetter,
        data,
        weights,
        values,
        insensitive,
        sensitive,
        scattered);
  }

  /**
   * @throws PartitaException with {@link MetricCode#RANKING_FILE} when it isn't one, or isn't
   *     complete
   */
  public static RankingFile read(Path file) {
    RankingFile read = readAny(file);
    if (!read.isComplete()) {
      throw MetricCode.RANKING_FILE.at(
          file.toString(),
          "a complete ranking, of " + read.weights.size() + " blocks",
          Math.max(0, read.values.size() - 1) + " blocks",
          "run the same partita rank again, which resumes it");
    }
    return read;
  }

  /** Like {@link #read}, but also accepts an incomplete file. */
  static RankingFile readAny(Path file) {
    Map<String, Object> json = MeasurementFile.read(file, FORMAT, found -> broken(file, found));
    try {
      List<String> weights = new ArrayList<>();
      ((List<?>) json.get("weights")).forEach(each -> weights.add((String) each));
      List<Double> values = new ArrayList<>();
      ((List<?>) json.get("values")).forEach(each -> values.add(((Number) each).doubleValue()));
      if (weights.isEmpty() || values.size() > weights.size() + 1) {
        throw broken(file, values.size() + " values of " + weights.size() + " blocks");
      }
      return new RankingFile(
          file,
          (String) json.get("mesh"),
          (String) json.get("metric"),
          (Boolean) json.get("largerIsBetter"),
          (String) json.get("data"),
          weights,
          values,
          ((Number) json.get("tau1")).doubleValue(),
          ((Number) json.get("tau2")).doubleValue(),
          heads(json.get("heads")));
    } catch (ClassCastException | NullPointerException | NumberFormatException misshapen) {
      throw broken(file, "JSON of another shape");
    }
  }

  private static Map<Integer, List<Integer>> heads(Object json) {
    Map<Integer, List<Integer>> heads = new TreeMap<>();
    ((Map<?, ?>) json)
        .forEach(
            (block, order) ->
                heads.put(
                    Integer.valueOf((String) block),
                    ((List<?>) order).stream().map(head -> ((Number) head).intValue()).toList()));
    return heads;
  }

  private static PartitaException broken(Path file, String found) {
    return MetricCode.RANKING_FILE.at(
        file.toString(),
        "a file that partita rank wrote",
        found,
        "write one with partita rank MODEL --data FILE --devices N -o " + file);
  }

  void write() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put(MeasurementFile.FORMAT, FORMAT);
    json.put("mesh", mesh);
    json.put("metric", metric);
    json.put("largerIsBetter", isLargerBetter);
    json.put("data", data);
    json.put("tau1", insensitive);
    json.put("tau2", sensitive);
    json.put("weights", weights);
    json.put("values", values);
    Map<String, Object> orders = new LinkedHashMap<>();
    heads.forEach((block, order) -> orders.put(block.toString(), order));
    json.put("heads", orders);
    if (isComplete()) {
      BlockRanking ranking = ranking();
      json.put("order", ranking.order());
      json.put("sensitivity", ranking.blocks().stream().map(each -> each.sensitivity()).toList());
    }
    try {
      byte[] bytes = JSON.std.asString(json).getBytes(StandardCharsets.UTF_8);
      OutputFile.write(file, out -> out.write(bytes));
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
