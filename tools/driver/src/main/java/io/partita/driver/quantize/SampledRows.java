package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizedGraph;
import io.partita.ir.tensor.Tensor;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Some rows of the input of products or functions, on which the error of a quantization is
 * measured.
 *
 * @param rows {@code [n, features]}
 */
record SampledRows(List<float[]> rows) {
  /**
   * Takes rows at equal distances.
   *
   * @param value {@code [..., features]}
   */
  static SampledRows of(Tensor value, int count) {
    int features = (int) value.shape().fromEnd(0).value();
    int all = value.size() / features;
    List<float[]> rows = new ArrayList<>();
    for (int i = 0; i < Math.min(count, all); i++) {
      float[] row = new float[features];
      int from = (int) ((long) i * all / Math.min(count, all)) * features;
      for (int j = 0; j < features; j++) {
        row[j] = (float) value.getDouble(from + j);
      }
      rows.add(row);
    }
    return new SampledRows(rows);
  }

  SampledRows plus(SampledRows other) {
    List<float[]> all = new ArrayList<>(rows);
    all.addAll(other.rows);
    return new SampledRows(all);
  }

  /** Returns all numbers, row by row. */
  float[] numbers() {
    FloatBuffer all = FloatBuffer.allocate(rows.stream().mapToInt(row -> row.length).sum());
    rows.forEach(all::put);
    return all.array();
  }

  /**
   * The relative L2 error of a product's result.
   *
   * @param factors by which the features of the input are divided; empty for none
   */
  double error(Product product, QuantizedGraph.Choice choice, Optional<double[]> factors) {
    float[] exact = product.matrix(Optional.empty());
    float[] coded = choice.matrix().dequantized();
    int columns = product.columns();
    double difference = 0;
    double whole = 0;
    for (float[] row : rows) {
      double[] sums = new double[columns];
      double[] deltas = new double[columns];
      for (int i = 0; i < row.length; i++) {
        double x = row[i];
        double divided = factors.isPresent() ? x / factors.get()[i] : x;
        double approximate = rounded(divided, choice.input());
        for (int j = 0; j < columns; j++) {
          double term = x * exact[i * columns + j];
          sums[j] += term;
          deltas[j] += approximate * coded[i * columns + j] - term;
        }
      }
      for (int j = 0; j < columns; j++) {
        whole += sums[j] * sums[j];
        difference += deltas[j] * deltas[j];
      }
    }
    return whole == 0 ? 0 : Math.sqrt(difference / whole);
  }

  private static double rounded(double value, Optional<Affine> code) {
    return code.isPresent() ? code.get().rounded(value) : value;
  }
}
