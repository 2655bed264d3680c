package io.partita.ir.eval;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Computes a graph as ONNX Runtime does on x86 processors without VNNI. Their instruction for bytes
 * ({@code vpmaddubsw}) adds two adjacent products of u8 and i8 in 16 bits and saturates, as when
 * both products are 255 · 127. All other types have exact sums.
 *
 * <p>ONNX Runtime multiplies bytes where a graph does ({@code MatMulInteger} and its kin), and also
 * where it multiplies dequantized bytes (QDQ format). Convolutions are computed exactly here.
 *
 * @see <a href="https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html">ONNX
 *     Runtime on U8S8 and saturation</a>
 */
public final class SaturatedPairs {
  /** The columns of the right matrix that one task takes. */
  private static final int BLOCK_COLUMNS = 256;

  /** Two products of factors that add up to less can't leave the 16 bits. */
  private static final int LEAST_FACTORS = 256;

  private SaturatedPairs() {}

  /** Whether a graph has products of u8 and i8. */
  public static boolean concerns(Graph graph) {
    return graph.nodes().stream().anyMatch(node -> Factors.of(node).isPresent());
  }

  /**
   * Returns the outputs of a graph, in order.
   *
   * @param inputs the tensor of each input of the graph, in order and of exactly its type
   * @throws io.partita.ir.diagnostic.PartitaException as {@link Evaluator#run(Graph, List)}
   */
  public static List<Tensor> run(Graph graph, List<Tensor> inputs) {
    return Evaluator.runWith(graph, inputs, SaturatedPairs::results);
  }

  private static List<Tensor> results(Node node, List<Tensor> operands) {
    List<Tensor> exact = Evaluator.run(node, operands);
    return Factors.of(node)
        .map(
            factors ->
                List.of(
                    ElementwiseKernels.binary(
                        BinaryFunction.ADD,
                        exact.getFirst(),
                        factors.excess(operands, exact.getFirst().type()),
                        exact.getFirst().type())))
        .orElse(exact);
  }

  /**
   * The bytes that a product multiplies.
   *
   * @param isTransposed whether the right matrix is stored by columns
   */
  private record Factors(Factor left, Factor right, boolean isTransposed) {
    static Optional<Factors> of(Node node) {
      boolean isTransposed = node.op() instanceof Structured.Linear linear && linear.transposed();
      if (!isProduct(node.op())) {
        return Optional.empty();
      }
      Optional<Factor> left = Factor.of(node.operand(0), ElementType.U8);
      Optional<Factor> right = Factor.of(node.operand(1), ElementType.I8);
      int columns = node.operand(1).type().rank() - (isTransposed ? 2 : 1);
      return left.isPresent()
              && right.isPresent()
              && left.get().isDequantized() == right.get().isDequantized()
              && left.get().axis().isEmpty()
              && right.get().axis().stream().allMatch(axis -> axis == columns)
          ? Optional.of(new Factors(left.get(), right.get(), isTransposed))
          : Optional.empty();
    }

    private static boolean isProduct(Op op) {
      return op instanceof Contraction.MatMul || op instanceof Structured.Linear;
    }

    /** What saturating adds to the exact result of type {@code type}. */
    Tensor excess(List<Tensor> operands, TensorType type) {
      Tensor a = left.bytes(operands.get(0));
      Tensor b = right.bytes(operands.get(1));
      if (isTransposed) {
        Shape turned = Shape.of(b.shape().extent(1), b.shape().extent(0));
        b = MovementKernels.transpose(b, List.of(1, 0), b.type().with(turned));
      }
      TensorType sums = type.with(ElementType.I32);
      Tensor excess =
          MatrixKernels.matMul(a, b, new MatrixKernels.Product(sums, SaturatedPairs::writeExcess));
      if (!left.isDequantized()) {
        return excess;
      }
      int columns = Math.toIntExact(type.shape().fromEnd(0).value());
      double[] scaled = new double[excess.size()];
      for (int i = 0; i < scaled.length; i++) {
        scaled[i] = excess.getLong(i) * left.scale(0) * right.scale(i % columns);
      }
      return Tensor.ofDoubles(type, scaled);
    }
  }

  /**
   * An operand that consists of bytes, or of bytes that were dequantized.
   *
   * @param element the type of the bytes
   * @param scales empty for bytes, one for the whole operand, or one for each index of {@code axis}
   * @param axis empty if all bytes have the same scale
   */
  private record Factor(
      ElementType element, List<Double> scales, List<Long> zeroPoints, Optional<Integer> axis) {
    static Optional<Factor> of(Value value, ElementType element) {
      if (value.type().element() == element) {
        return Optional.of(new Factor(element, List.of(), List.of(), Optional.empty()));
      }
      if (value.isInput()) {
        return Optional.empty();
      }
      Node node = value.definition();
      return switch (node.op()) {
        case Movement.Transpose transpose ->
            of(node.operand(0), element)
                .filter(Factor::isDequantized)
                .map(factor -> factor.transposed(transpose.permutation()));
        case Quantized.Dequantize dequantize
            when dequantize.block() == 0 && node.operand(0).type().element() == element ->
            dequantized(node, dequantize.axis(), element);
        default -> Optional.empty();
      };
    }

    private static Optional<Factor> dequantized(Node node, int axis, ElementType element) {
      Optional<Tensor> scale = known(node.operand(1));
      Optional<Tensor> zeroPoint = known(node.operand(2));
      if (scale.isEmpty() || zeroPoint.isEmpty()) {
        return Optional.empty();
      }
      return Optional.of(
          new Factor(
              element,
              Arrays.stream(scale.get().doubles()).boxed().toList(),
              Arrays.stream(zeroPoint.get().longs()).boxed().toList(),
              scale.get().shape().rank() == 0 ? Optional.empty() : Optional.of(axis)));
    }

    /** The value of a constant that is only moved. */
    private static Optional<Tensor> known(Value value) {
      if (value.isInput()) {
        return Optional.empty();
      }
      Node node = value.definition();
      if (node.constant().isPresent() || !(node.op() instanceof Movement)) {
        return node.constant();
      }
      List<Tensor> operands = new ArrayList<>();
      for (Value operand : node.operands()) {
        known(operand).ifPresent(operands::add);
      }
      return operands.size() == node.operands().size()
          ? Optional.of(Evaluator.run(node, operands).get(value.index()))
          : Optional.empty();
    }

    boolean isDequantized() {
      return !scales.isEmpty();
    }

    double scale(int index) {
      return scales.get(axis.isPresent() ? index : 0);
    }

    private Factor transposed(List<Integer> permutation) {
      return new Factor(element, scales, zeroPoints, axis.map(permutation::indexOf));
    }

    /** Returns the bytes of an operand, which a dequantized one has exactly. */
    Tensor bytes(Tensor operand) {
      if (!isDequantized()) {
        return operand;
      }
      long inner =
          axis.map(at -> operand.shape().range(at + 1, operand.shape().rank()).elements())
              .orElse(1L);
      long[] bytes = new long[operand.size()];
      for (int i = 0; i < bytes.length; i++) {
        int at = (int) (i / Math.max(1, inner) % scales.size());
        bytes[i] = Math.round(operand.getDouble(i) / scales.get(at)) + zeroPoints.get(at);
      }
      return Tensor.ofLongs(operand.type().with(element), bytes);
    }
  }

  /** Writes the sums over pairs of products of what saturating adds to each of them. */
  private static void writeExcess(Matrix left, Matrix right, int[] out, int outStart) {
    int[][] factors = new int[left.rows()][left.columns()];
    left.read(0, left.rows(), 0, left.columns(), factors);
    ParallelTasks.run(
        Math.ceilDiv(right.columns(), BLOCK_COLUMNS),
        (long) left.rows() * right.columns() * left.columns(),
        task -> writeExcess(factors, right, task * BLOCK_COLUMNS, out, outStart));
  }

  private static void writeExcess(
      int[][] factors, Matrix right, int column, int[] out, int outStart) {
    int columns = Math.min(BLOCK_COLUMNS, right.columns() - column);
    int[][] pair = new int[2][columns];
    // The last product of an odd number has none beside it, and stays in 16 bits.
    for (int k = 0; k + 1 < right.rows(); k += 2) {
      right.read(k, 2, column, columns, pair);
      for (int row = 0; row < factors.length; row++) {
        int first = factors[row][k];
        int second = factors[row][k + 1];
        if (first + second >= LEAST_FACTORS) {
          int to = outStart + row * right.columns() + column;
          for (int j = 0; j < columns; j++) {
            int sum = first * pair[0][j] + second * pair[1][j];
            out[to + j] += Math.clamp(sum, Short.MIN_VALUE, Short.MAX_VALUE) - sum;
          }
        }
      }
    }
  }
}
