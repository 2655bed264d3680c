package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;

/** Transformer operators of ONNX, and the changes of layout that they share. */
final class AttentionOperators {
  private AttentionOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("Attention", AttentionImport::convert);
    registry.add("RotaryEmbedding", AttentionOperators::rotaryEmbedding);
    registry.add("TensorScatter", AttentionOperators::tensorScatter);
  }

  /** {@code [batch, seq, heads d] -> [batch, heads, seq, d]}. */
  static Value splitHeads(NodeScope node, Value x, Dim heads) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = x.type().shape();
    Dim size = shape.rank() == 3 ? shape.dim(2).dividedExactlyBy(heads) : null;
    if (size == null) {
      throw node.invalid("an operand [batch, seq, " + heads + " heads]", shape.toString());
    }
    Value split = of.reshape(x, Shape.of(shape.dim(0), shape.dim(1), heads, size));
    return of.transpose(split, 0, 2, 1, 3);
  }

  /** {@code [batch, heads, seq, d] -> [batch, seq, heads d]}. */
  static Value joinHeads(NodeScope node, Value x) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = x.type().shape();
    Value rows = of.transpose(x, 0, 2, 1, 3);
    return of.reshape(rows, Shape.of(shape.dim(0), shape.dim(2), shape.dim(1).times(shape.dim(3))));
  }

  /**
   * Positions select rows of the tables; without positions, the tables are {@code [batch, seq,
   * r/2]}.
   */
  private static void rotaryEmbedding(NodeScope node) {
    Value x = node.input(0);
    boolean joined = x.type().rank() == 3;
    Value split = joined ? splitHeads(node, x, Dim.of(node.integer("num_heads"))) : x;
    Value cosines = positioned(node, node.input(1));
    Value sines = positioned(node, node.input(2));
    long rotated = node.integer("rotary_embedding_dim", 0);
    Dim features = rotated == 0 ? split.type().shape().fromEnd(0) : Dim.of(rotated);
    if (!cosines.type().shape().fromEnd(0).times(Dim.of(2)).equals(features)) {
      throw node.invalid(
          "half as many cosines as the " + features + " features", cosines.toString());
    }
    Value y =
        node.add(
            new Structured.RotaryEmbedding(node.flag("interleaved", false)), split, cosines, sines);
    node.output(0, joined ? joinHeads(node, y) : y);
  }

  private static Value positioned(NodeScope node, Value cache) {
    return node.has(3) ? node.add(new Movement.Gather(0), cache, node.input(3)) : cache;
  }

  private static void tensorScatter(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value cache = node.input(0);
    int axis = node.axis(node.integer("axis", -2), cache.type().rank());
    boolean circular =
        switch (node.text("mode", "linear")) {
          case "linear" -> false;
          case "circular" -> true;
          case String other -> throw node.invalid("mode linear or circular", other);
        };
    Value start =
        node.optionalInput(2)
            .orElseGet(
                () ->
                    of.filled(
                        node.constant(Tensor.scalar(ElementType.I64, 0)),
                        Shape.of(cache.type().dim(0))));
    node.output(
        0,
        node.add(
            new Structured.CacheUpdate(axis, circular),
            cache,
            node.input(1),
            of.cast(start, ElementType.I64)));
  }

  /** Returns the positions {@code [0, extent)} as i64. */
  static Value positions(Arithmetic of, Dim extent) {
    return of.iota(extent, ElementType.I64);
  }

  static Value negativeInfinity(NodeScope node, ElementType element) {
    return node.constant(
        Tensor.ofDoubles(TensorType.scalar(element), new double[] {Double.NEGATIVE_INFINITY}));
  }
}
