package io.partita.frontend.onnx.operator;

import static io.partita.frontend.onnx.operator.AttentionValues.attend;
import static io.partita.frontend.onnx.operator.AttentionValues.keyMask;
import static io.partita.frontend.onnx.operator.AttentionValues.splitHeads;

import io.partita.frontend.onnx.NodeScope;
import io.partita.frontend.onnx.operator.AttentionValues.Extents;
import io.partita.frontend.onnx.operator.IntegerProducts.Factor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Attention of com.microsoft, which includes the projections of q, k and v, and its quantised form.
 */
final class MicrosoftAttention {
  /** The default value that ONNX Runtime adds to scores of masked keys. */
  static final double DEFAULT_FILTER = -10_000;

  private MicrosoftAttention() {}

  static void register(OperatorRegistry registry) {
    registry.add(OperatorRegistry.MICROSOFT, "Attention", 1, MicrosoftAttention::attention);
    registry.add(OperatorRegistry.MICROSOFT, "QAttention", 1, MicrosoftAttention::quantized);
  }

  private static void attention(NodeScope node) {
    List<Value> operands = new ArrayList<>(List.of(node.input(0), node.input(1)));
    node.optionalInput(2).ifPresent(operands::add);
    Value projected = node.add(new Structured.Linear(false, operands.size() == 3), operands);
    if (node.has(6)) {
      throw node.unsupported(
          "Attention with a shared cache buffer", "export past and present as separate tensors");
    }
    attend(node, projected, new Inputs(3, 4, 5));
  }

  /** Imports the quantised form, with an integer product that is scaled to f32. */
  private static void quantized(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value sum = IntegerProducts.matMul(node, Factor.of(node, 0, 6), Factor.of(node, 1, 7));
    Value scale =
        of.mul(QuantizedValues.scale(node, 3, false), QuantizedValues.scale(node, 4, false));
    Value product = of.mul(of.cast(sum, ElementType.F32), scale);
    Value projected = of.add(product, node.input(2));
    attend(node, projected, new Inputs(5, 8, Integer.MAX_VALUE));
  }

  /** The positions of the operands after the projection. */
  private record Inputs(int mask, int past, int bias) {}

  private static void attend(NodeScope node, Value projected, Inputs inputs) {
    Arithmetic of = new Arithmetic(node);
    if (node.flag("do_rotary", false)) {
      throw node.unsupported(
          "Attention with do_rotary", "export rotary embedding as a separate operator");
    }
    Dim heads = Dim.of(node.integer("num_heads"));
    List<Value> qkv = new ArrayList<>();
    Dim start = Dim.ZERO;
    for (Dim size : sizes(node, projected.type().dim(2))) {
      qkv.add(splitHeads(node, of.slice(projected, 2, start, size), heads));
      start = start.plus(size);
    }
    Dim before = Dim.ZERO;
    if (node.has(inputs.past())) {
      Value past = node.input(inputs.past());
      before = past.type().dim(3);
      for (int i = 0; i < 2; i++) {
        Value old = of.slice(past, 0, Dim.of(i), Dim.ONE);
        old = of.reshape(old, past.type().shape().without(0));
        qkv.set(i + 1, of.concat(2, old, qkv.get(i + 1)));
      }
    }
    Value q = qkv.getFirst();
    Shape keys = qkv.get(1).type().shape();
    Extents extents = new Extents(q.type().dim(0), q.type().dim(2), keys.dim(2));
    double filter = node.number("mask_filter_value", DEFAULT_FILTER);
    Optional<Value> mask = keyMask(node, inputs.mask(), extents, q.type().element(), filter);
    mask = AttentionValues.sum(node, mask, node.optionalInput(inputs.bias()));
    Structured.Attention plain =
        new Structured.Attention(
            AttentionValues.scale(node, q),
            0,
            node.flag("unidirectional", false),
            before,
            0,
            false,
            false);
    node.output(0, AttentionValues.attend(node, plain, qkv, mask, Optional.empty()));
    if (node.wants(1)) {
      Value key = of.reshape(qkv.get(1), keys.insert(0, Dim.ONE));
      Value value = of.reshape(qkv.get(2), qkv.get(2).type().shape().insert(0, Dim.ONE));
      node.output(1, of.concat(0, key, value));
    }
  }

  private static List<Dim> sizes(NodeScope node, Dim all) {
    if (node.hasAttribute("qkv_hidden_sizes")) {
      return node.integers("qkv_hidden_sizes").stream().map(size -> Dim.of(size)).toList();
    }
    Dim third = all.dividedExactlyBy(Dim.of(3));
    if (third == null) {
      throw node.invalid("a weight with three parts of equal size", all + " columns");
    }
    return List.of(third, third, third);
  }
}
