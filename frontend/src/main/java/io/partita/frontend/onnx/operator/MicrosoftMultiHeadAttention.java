package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.AttentionValues.keyMask;
import static io.partita.frontend.onnx.operator.AttentionValues.splitHeads;

import io.partita.frontend.onnx.NodeScope;
import io.partita.frontend.onnx.operator.AttentionValues.Extents;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/**
 * MultiHeadAttention of com.microsoft: attention after the projections, with or without a cache.
 */
final class MicrosoftMultiHeadAttention {
  private MicrosoftMultiHeadAttention() {}

  static void register(OperatorRegistry registry) {
    registry.add(
        OperatorRegistry.MICROSOFT, "MultiHeadAttention", 1, MicrosoftMultiHeadAttention::convert);
  }

  private static void convert(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    if (node.has(8) || node.has(9)) {
      throw node.unsupported(
          "MultiHeadAttention with a shared cache buffer or beam indices",
          "export past and present as separate tensors");
    }
    Dim heads = Dim.of(node.integer("num_heads"));
    List<Value> qkv = separate(node, heads);
    Value q = qkv.get(0);
    Value k = qkv.get(1);
    Value v = qkv.get(2);
    Dim before = Dim.ZERO;
    if (node.has(6)) {
      before = node.shape(6).dim(2);
      k = of.concat(2, node.input(6), k);
      v = of.concat(2, node.input(7), v);
    }
    Extents extents = new Extents(q.type().dim(0), q.type().dim(2), k.type().dim(2));
    double filter = node.number("mask_filter_value", MicrosoftAttention.DEFAULT_FILTER);
    Optional<Value> mask = keyMask(node, 4, extents, q.type().element(), filter);
    mask = AttentionValues.sum(node, mask, node.optionalInput(5));
    double scale = AttentionValues.scale(node, q);
    Structured.Attention plain =
        new Structured.Attention(
            scale, 0, node.flag("unidirectional", false), before, 0, false, false);
    node.output(0, AttentionValues.attend(node, plain, List.of(q, k, v), mask, Optional.empty()));
    node.output(1, k);
    node.output(2, v);
    if (node.wants(3)) {
      Value keys = IntegerProducts.transposed(node, k);
      Value scores = node.add(new Contraction.MatMul(q.type().element()), q, keys);
      scores = of.mul(scores, node.scalarLike(q, scale));
      node.output(3, mask.isPresent() ? of.add(scores, mask.get()) : scores);
    }
  }

  /** Returns q, k and v by head with biases, {@code [batch, heads, seq, d]}. */
  private static List<Value> separate(NodeScope node, Dim heads) {
    Value query = node.input(0);
    if (query.type().rank() == 5) {
      return List.of(
          biased(node, packed(node, query, 0), heads, 0),
          biased(node, packed(node, query, 1), heads, 1),
          biased(node, packed(node, query, 2), heads, 2));
    }
    Value q = biased(node, query, heads, 0);
    Value key = node.input(1);
    return switch (key.type().rank()) {
      case 5 ->
          List.of(
              q,
              biased(node, packed(node, key, 0), heads, 1),
              biased(node, packed(node, key, 1), heads, 2));
      // Keys and values of another layer, which are split by head and include biases.
      case 4 -> List.of(q, key, node.input(2));
      case 3 -> List.of(q, biased(node, key, heads, 1), biased(node, node.input(2), heads, 2));
      default -> throw node.invalid("keys of rank 3 to 5", key.type().toString());
    };
  }

  /**
   * Returns part {@code part} of {@code [batch, seq, heads, parts, d]} as {@code [batch, seq, heads
   * d]}.
   */
  private static Value packed(NodeScope node, Value all, int part) {
    Arithmetic of = new Arithmetic(node);
    Shape shape = all.type().shape();
    Value one = of.slice(all, 3, Dim.of(part), Dim.ONE);
    return of.reshape(one, Shape.of(shape.dim(0), shape.dim(1), shape.dim(2).times(shape.dim(4))));
  }

  /** Adds a part of the concatenated bias of q, k and v to {@code x}. */
  private static Value biased(NodeScope node, Value x, Dim heads, int part) {
    Arithmetic of = new Arithmetic(node);
    if (!node.has(3)) {
      return splitHeads(node, x, heads);
    }
    Dim size = x.type().dim(2);
    Dim width = part == 2 ? node.shape(3).dim(0).minus(size) : size.times(Dim.of(part));
    Value bias = of.slice(node.input(3), 0, width, size);
    return splitHeads(node, of.add(x, bias), heads);
  }
}
