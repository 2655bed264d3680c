package io.partita.frontend.onnx.quantize;

import io.partita.ir.tensor.Tensor;
import java.util.Optional;

/**
 * A product with a trained matrix: a {@code MatMul} or {@code Gemm} of an ONNX graph.
 *
 * @param index the index of the node in the graph
 * @param name the name of the node, or of its result if it has none
 * @param operator {@code MatMul} or {@code Gemm}
 * @param input the name of the left operand, {@code [..., inner]}
 * @param output the name of the result, {@code [..., columns]}
 * @param weight the name of the matrix
 * @param data the matrix
 * @param transposed whether it is {@code [columns, inner]}
 * @param bias the name of the added vector {@code [columns]}, if it is an operand of the node
 */
public record Product(
    int index,
    String name,
    String operator,
    String input,
    String output,
    String weight,
    Tensor data,
    boolean transposed,
    Optional<String> bias) {

  public int inner() {
    return (int) data.shape().extent(transposed ? 1 : 0);
  }

  public int columns() {
    return (int) data.shape().extent(transposed ? 0 : 1);
  }

  /**
   * Returns the matrix as {@code [inner, columns]}, row-major.
   *
   * @param factors factors of the rows; empty for none
   */
  public float[] matrix(Optional<double[]> factors) {
    int rows = inner();
    int columns = columns();
    float[] given = data.floats();
    float[] matrix = new float[given.length];
    for (int row = 0; row < rows; row++) {
      double factor = factors.isPresent() ? factors.get()[row] : 1;
      for (int column = 0; column < columns; column++) {
        float value = given[transposed ? column * rows + row : row * columns + column];
        matrix[row * columns + column] = (float) (value * factor);
      }
    }
    return matrix;
  }
}
