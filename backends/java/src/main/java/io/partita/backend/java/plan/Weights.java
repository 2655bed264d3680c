package io.partita.backend.java.plan;

import io.partita.ir.graph.Node;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;

/** How a node reads a constant operand. */
public enum Weights {
  /** From an array. */
  ARRAY,
  /** Tile by tile from the weights file, as a matrix {@code [in, out]}. */
  PANELS,
  /** The same for a model's matrix {@code [out, in]}. */
  PANELS_OF_TRANSPOSE,
  /** Single rows from the weights file. */
  ROWS;

  /** How {@code node} would read operand {@code index} as a constant. */
  public static Weights of(Node node, int index) {
    return switch (node.op()) {
      case Structured.Linear linear ->
          index == 1 ? (linear.transposed() ? PANELS_OF_TRANSPOSE : PANELS) : ARRAY;
      case Structured.Ffn ffn -> isFfnWeight(ffn, index) ? PANELS : ARRAY;
      case Structured.PatchEmbedding patches -> index == 1 ? PANELS_OF_TRANSPOSE : ARRAY;
      case Structured.Embedding embedding -> index == 0 ? ROWS : ARRAY;
      case Movement.Gather gather -> index == 0 && gather.axis() == 0 ? ROWS : ARRAY;
      case Contraction.MatMul matMul -> index == 1 && isOneMatrix(node) ? PANELS : ARRAY;
      case Structured.Norm norm -> ARRAY;
      case Structured.Attention attention -> ARRAY;
      case Structured.RotaryEmbedding rotary -> ARRAY;
      case Structured.CacheUpdate update -> ARRAY;
      case Contraction.Einsum einsum -> ARRAY;
      case Contraction.Convolution convolution -> ARRAY;
      case Contraction.TransposedConvolution convolution -> ARRAY;
      case Contraction.Pool pool -> ARRAY;
      case Contraction.NibbleMatMul product -> ARRAY;
      case Contraction.NearestCentroid nearest -> ARRAY;
      case Elementwise elementwise -> ARRAY;
      case Movement movement -> ARRAY;
      case Reduction reduction -> ARRAY;
      case Quantized quantized -> ARRAY;
      case IntegerNetwork integers -> ARRAY;
      case Communication exchange -> ARRAY;
      case Source source -> ARRAY;
    };
  }

  /** A product of floats or bytes whose right operand is one matrix for all batches. */
  private static boolean isOneMatrix(Node node) {
    Shape right = node.operand(1).type().shape();
    return (node.operand(0).type().element().isFloat() || isOfBytes(node))
        && right.range(0, right.rank() - 2).elements() == 1;
  }

  private static boolean isOfBytes(Node node) {
    return node.operand(0).type().element().isByte()
        && node.operand(1).type().element() == ElementType.I8
        && node.result().type().element() == ElementType.I32;
  }

  private static boolean isFfnWeight(Structured.Ffn ffn, int index) {
    int next = 1;
    if (ffn.gated()) {
      if (index == next) {
        return true;
      }
      next += ffn.gateBias() ? 2 : 1;
    }
    return index == next || index == next + (ffn.upBias() ? 2 : 1);
  }
}
