package io.partita.driver.evaluate;

import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One array of a NumPy archive, whose first dimension counts samples.
 *
 * @param where the file and the array, for diagnostics
 * @param samples such as token ids {@code [n, length]}, or images {@code [n, ...]}
 * @param labels {@code [n]}, the array with the suffix {@code _labels}, if it exists
 */
public record EvaluationData(String where, String name, Tensor samples, Optional<Tensor> labels) {
  private static final String LABELS = "_labels";

  /**
   * @throws io.partita.ir.diagnostic.PartitaException when it can't be read, with {@link
   *     MetricCode#ARRAY} when it isn't there, with {@link MetricCode#DATA} when it is empty
   */
  public static EvaluationData read(Path file, String name) {
    Map<String, Tensor> arrays = Npz.read(file);
    String where = file + ", array '" + name + "'";
    Tensor samples = arrays.get(name);
    if (samples == null) {
      List<String> names = List.copyOf(arrays.keySet());
      throw MetricCode.ARRAY.at(
          file.toString(),
          "an array named '" + name + "'",
          names.isEmpty() ? "no array" : "the arrays " + String.join(", ", names),
          NearestName.of(name, names)
              .or(() -> names.stream().findFirst())
              .map(near -> "name the array to evaluate: --array " + near)
              .orElse("save it with numpy.savez('data.npz', " + name + "=…)"));
    }
    if (samples.shape().rank() < 2 || samples.size() == 0) {
      throw MetricCode.DATA.at(
          where,
          "at least one sample: token ids [n, length], or images [n, ...]",
          samples.type(),
          "name another array with --array");
    }
    return new EvaluationData(where, name, samples, Optional.ofNullable(arrays.get(name + LABELS)));
  }

  int count() {
    return Math.toIntExact(samples.shape().dim(0).value());
  }

  /** The elements of a sample. */
  int length() {
    return samples.size() / count();
  }

  /** The name of the array of labels, which need not exist. */
  String labelsName() {
    return name + LABELS;
  }
}
