package io.partita.passes.planning.residency;

import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.NibblePanels;
import io.partita.ir.type.TensorType;
import java.util.List;

/** The least working memory of an operation: the operands and results of its smallest part. */
final class SmallestTiles {
  /** The elements of a burst, the least unit of transfers. */
  private static final long BURST = 64;

  private static final long ACCUMULATOR = 4;

  private SmallestTiles() {}

  static long bytes(Op op, List<TensorType> operands, List<TensorType> results) {
    return switch (op) {
      case Source source -> 0;
      case Communication communication -> 0;
      case Contraction contraction -> contraction(contraction, operands);
      case Structured structured -> structured(structured, operands);
      case Elementwise elementwise -> burst(operands, results);
      case Movement movement -> burst(operands, results);
      case Quantized quantized -> burst(operands, results);
      case Reduction reduction -> 2 * line(operands.getFirst());
      case IntegerNetwork network ->
          network.isElementwise() ? burst(operands, results) : 2 * line(operands.getFirst());
    };
  }

  private static long burst(List<TensorType> operands, List<TensorType> results) {
    long bytes = 0;
    for (TensorType type : operands) {
      bytes += Math.min(BURST, type.bytes());
    }
    for (TensorType type : results) {
      bytes += Math.min(BURST, type.bytes());
    }
    return bytes;
  }

  /** Returns the extent of the last dimension. */
  private static long line(TensorType type) {
    return type.rank() == 0
        ? type.bytes()
        : type.element().packedBytes(type.shape().fromEnd(0).value());
  }

  /** Counts a row, a column, and one result. */
  private static long product(TensorType x, long depth) {
    return 2 * x.element().packedBytes(depth) + ACCUMULATOR;
  }

  private static long contraction(Contraction op, List<TensorType> operands) {
    TensorType x = operands.getFirst();
    return switch (op) {
      case Contraction.MatMul matMul -> 2 * line(x) + ACCUMULATOR;
      case Contraction.Einsum einsum -> 2 * line(x) + ACCUMULATOR;
      case Contraction.Convolution convolution -> filter(operands.get(1));
      case Contraction.TransposedConvolution convolution -> filter(operands.get(1));
      case Contraction.Pool pool -> 2 * line(x);
      case Contraction.NibbleMatMul product ->
          line(operands.get(1))
              + line(operands.get(2))
              + NibblePanels.rows(operands.get(1).shape().extent(2))
              + NibblePanels.COLUMNS * ACCUMULATOR;
      case Contraction.NearestCentroid nearest -> 2 * line(operands.get(1)) + 2 * ACCUMULATOR;
    };
  }

  private static long filter(TensorType weight) {
    long filters = Math.max(1, weight.shape().extent(0));
    return product(weight, weight.shape().elements() / filters);
  }

  private static long structured(Structured op, List<TensorType> operands) {
    TensorType x = operands.getFirst();
    return switch (op) {
      case Structured.Linear linear -> 2 * line(x) + ACCUMULATOR;
      case Structured.Norm norm -> {
        long size = x.shape().range(norm.axis(), x.rank()).elements();
        yield (long) operands.size() * x.element().packedBytes(size);
      }
      // One query, its scores and weights, and one key or value at a time.
      case Structured.Attention attention when attention.isInteger() ->
          2 * line(x) + (ACCUMULATOR + 1) * operands.get(1).shape().extent(2);
      // One query, its scores, and one key or value at a time.
      case Structured.Attention attention ->
          3 * line(x) + ACCUMULATOR * operands.get(1).shape().extent(2);
      case Structured.RotaryEmbedding rotary -> 3 * line(x);
      case Structured.Ffn ffn -> Math.max(2 * line(x), 2 * line(operands.get(1))) + ACCUMULATOR;
      case Structured.Embedding embedding -> Math.min(BURST, x.bytes());
      case Structured.PatchEmbedding patches -> filter(operands.get(1));
      case Structured.CacheUpdate update -> Math.min(BURST, operands.get(1).bytes());
    };
  }
}
