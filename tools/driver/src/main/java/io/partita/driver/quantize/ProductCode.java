package io.partita.driver.quantize;

import io.partita.driver.quantize.Quantization.Settings;
import io.partita.frontend.onnx.quantize.Affine;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizedGraph;
import io.partita.frontend.onnx.quantize.QuantizedMatrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A product with codes of its matrix and its input.
 *
 * @param error the relative L2 error of its result, if only it is quantized
 */
record ProductCode(QuantizedGraph.Choice choice, double error) {
  /**
   * Codes a product in as few bits as its error allows, or else in the most.
   *
   * @param code of its input; empty if that stays float
   * @param divisors of the features of its input; empty for none
   * @param rows some rows of its input, before they are divided
   */
  static ProductCode of(
      Product product,
      Optional<Affine> code,
      Optional<double[]> divisors,
      SampledRows rows,
      Settings settings) {
    ProductCode found = null;
    for (QuantizedGraph.Choice choice : ladder(product, divisors, code, settings)) {
      found = new ProductCode(choice, rows.error(product, choice, divisors));
      if (found.error() <= settings.largestError()) {
        break;
      }
    }
    return found;
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
}
