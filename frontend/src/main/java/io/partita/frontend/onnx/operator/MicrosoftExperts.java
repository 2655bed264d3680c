package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Mixtures of experts in one node: MoE and QMoE of com.microsoft. Every expert computes every
 * token, {@code y = Σe weight[token, e] expert_e(x)}, and weights of unselected experts are zero.
 */
final class MicrosoftExperts {
  /** The operands of one product: weights [experts, n, k], scales, zero points and bias. */
  private record Projection(int weight, int scale, int zeroPoint, int bias, String bits) {}

  private static final Projection[] FLOATS = {
    new Projection(2, -1, -1, 3, ""),
    new Projection(4, -1, -1, 5, ""),
    new Projection(6, -1, -1, 7, "")
  };
  private static final Projection[] INTEGERS = {
    new Projection(2, 3, 11, 4, "fc1_expert_weight_bits"),
    new Projection(5, 6, 12, 7, "fc2_expert_weight_bits"),
    new Projection(8, 9, 13, 10, "fc3_expert_weight_bits")
  };

  /** The operand of QMoE with weights that differ from the scores that select experts. */
  private static final int ROUTER_WEIGHTS = 14;

  private final NodeScope node;
  private final Arithmetic of;
  private final boolean isQuantized;

  private MicrosoftExperts(NodeScope node, boolean isQuantized) {
    this.node = node;
    this.of = new Arithmetic(node);
    this.isQuantized = isQuantized;
  }

  static void register(OperatorRegistry registry) {
    String domain = OperatorRegistry.MICROSOFT;
    registry.add(domain, "MoE", 1, node -> new MicrosoftExperts(node, false).convert());
    registry.add(domain, "QMoE", 1, node -> new MicrosoftExperts(node, true).convert());
  }

  private void convert() {
    if (node.flag("use_sparse_mixer", false)) {
      throw node.unsupported("the sparse mixer", "export the routing as separate nodes");
    }
    if (isQuantized && !node.text("quant_type", "int").equals("int")) {
      throw node.unsupported(
          "experts of quant_type " + node.text("quant_type", "int"), "quantise to integers");
    }
    if (node.integer("weights_prepacked", -1) > 0) {
      throw node.unsupported("prepacked weights", "export them with weights_prepacked=0");
    }
    Value input = node.input(0);
    Shape shape = input.type().shape();
    Dim features = shape.fromEnd(0);
    Dim tokens = shape.range(0, shape.rank() - 1).size();
    Value x = of.reshape(input, Shape.of(tokens, features));
    Value weights = weights();
    long experts = node.shape(2).extent(0);
    Value sum = null;
    for (long expert = 0; expert < experts; expert++) {
      Value weight = of.slice(weights, 1, Dim.of(expert), Dim.ONE);
      Value part = of.mul(expert(x, expert), weight);
      sum = sum == null ? part : of.add(sum, part);
    }
    node.output(0, of.reshape(sum, shape));
  }

  /** Returns the weight of each expert for each token, [tokens, experts]. */
  private Value weights() {
    Value scores = node.input(1);
    Dim experts = scores.type().dim(1);
    long k = node.integer("k", 1);
    Value indices = node.addAll(new Reduction.TopK(k, 1, true), List.of(scores)).get(1);
    Dim tokens = scores.type().dim(0);
    Value chosen = of.reshape(indices, Shape.of(tokens, Dim.of(k), Dim.ONE));
    Value numbers = of.iota(experts, indices.type().element());
    Value equal = of.binary(BinaryFunction.EQUAL, chosen, numbers);
    Value counts =
        of.reduce(ReductionKind.SUM, of.cast(equal, scores.type().element()), List.of(1), false);
    Value isChosen = of.binary(BinaryFunction.GREATER, counts, 0);
    boolean normalizes = node.flag("normalize_routing_weights", false);
    if (isQuantized && node.has(ROUTER_WEIGHTS)) {
      Value given = node.input(ROUTER_WEIGHTS);
      Value kept = of.select(isChosen, given, node.scalarLike(given, 0));
      return normalizes ? of.div(kept, of.reduce(ReductionKind.SUM, kept, List.of(1), true)) : kept;
    }
    Reduction.Softmax softmax = new Reduction.Softmax(1, false);
    // QMoE always normalises over the selected experts.
    if (normalizes || isQuantized) {
      Value least = node.scalarLike(scores, Double.NEGATIVE_INFINITY);
      return node.add(softmax, of.select(isChosen, scores, least));
    }
    return of.select(isChosen, node.add(softmax, scores), node.scalarLike(scores, 0));
  }

  private Projection projection(int number) {
    return (isQuantized ? INTEGERS : FLOATS)[number];
  }

  /** Returns the results of one expert for all tokens, [tokens, features]. */
  private Value expert(Value x, long expert) {
    Value first = product(x, projection(0), expert);
    Value third = node.has(projection(2).weight()) ? product(x, projection(2), expert) : null;
    return product(activated(first, third), projection(1), expert);
  }

  private Value activated(Value first, Value third) {
    String name = node.text("activation_type", "relu");
    if (name.equals("swiglu")) {
      return swiglu(first, third);
    }
    Value y =
        switch (name) {
          case "relu" -> of.unary(UnaryFunction.RELU, first);
          // ONNX Runtime uses tanh.
          case "gelu" -> of.unary(UnaryFunction.GELU_TANH, first);
          case "silu" -> of.unary(UnaryFunction.SILU, first);
          case "identity" -> first;
          default ->
              throw node.unsupported(
                  "activation_type " + name, "use relu, gelu, silu, swiglu or identity");
        };
    return third == null ? y : of.mul(y, third);
  }

  /** {@code g sigmoid(α g) (l + β)}, both within the limit. */
  private Value swiglu(Value first, Value third) {
    Value gate = first;
    Value linear = third;
    long fusion = node.integer("swiglu_fusion", 0);
    if (fusion != 0) {
      Dim half = first.type().dim(1).dividedExactlyBy(Dim.of(2));
      if (half == null) {
        throw node.invalid("an even number of fused features", first.type().toString());
      }
      gate = of.slice(first, 1, Dim.ZERO, half, fusion == 1 ? 2 : 1);
      linear = of.slice(first, 1, fusion == 1 ? Dim.ONE : half, half, fusion == 1 ? 2 : 1);
    } else if (third == null) {
      throw node.invalid("fc3_experts_weights, or swiglu_fusion", "neither");
    }
    if (node.hasAttribute("swiglu_limit")) {
      double limit = node.number("swiglu_limit");
      gate = of.min(gate, limit);
      linear = of.min(of.max(linear, -limit), limit);
    }
    double alpha = node.number("activation_alpha", 1);
    double beta = node.number("activation_beta", 0);
    Value active =
        alpha == 1
            ? of.unary(UnaryFunction.SILU, gate)
            : of.mul(gate, of.unary(UnaryFunction.SIGMOID, of.mul(gate, alpha)));
    return of.mul(active, beta == 0 ? linear : of.add(linear, beta));
  }

  private Value product(Value x, Projection projection, long expert) {
    Value weight =
        isQuantized
            ? dequantized(projection, expert, x.type().element())
            : part(projection.weight(), expert, node.shape(projection.weight()));
    List<Value> operands = new ArrayList<>(List.of(x, weight));
    if (node.has(projection.bias())) {
      operands.add(part(projection.bias(), expert, node.shape(projection.bias())));
    }
    return node.add(new Structured.Linear(true, operands.size() == 3), operands);
  }

  /** Returns one expert's part of an operand without the first axis; constants aren't copied. */
  private Value part(int input, long expert, Shape shape) {
    Optional<Tensor> known = node.constant(input);
    Shape rest = shape.range(1, shape.rank());
    if (known.isPresent()) {
      TensorType type = new TensorType(known.get().element(), rest);
      return node.constant(known.get().stretch(type, expert * type.bytes()));
    }
    return of.reshape(of.slice(node.input(input), 0, Dim.of(expert), Dim.ONE), rest);
  }

  private Value dequantized(Projection projection, long expert, ElementType real) {
    long bits = node.integer(projection.bits(), node.integer("expert_weight_bits", 4));
    if (bits != 4 && bits != 8) {
      throw node.unsupported(bits + "-bit experts", "quantise to 4 or 8 bits");
    }
    Value weight = unpacked(projection.weight(), expert, (int) bits);
    long n = weight.type().shape().extent(0);
    long k = weight.type().shape().extent(1);
    long block = node.integer("block_size", 0) > 0 ? node.integer("block_size") : k;
    Shape parameters = Shape.of(n, Math.ceilDiv(k, block));
    Value given = part(projection.scale(), expert, node.shape(projection.scale()));
    Value scale = of.reshape(of.cast(given, real), parameters);
    Value zeroPoint =
        node.has(projection.zeroPoint())
            ? zeroPoint(projection.zeroPoint(), expert, (int) bits, parameters)
            : QuantizedValues.filled(
                node, new TensorType(weight.type().element(), parameters), 1L << (bits - 1));
    return node.add(new Quantized.Dequantize(1, block, real), weight, scale, zeroPoint);
  }

  /** Returns weights packed along the last axis, which may be padded to whole bytes. */
  private Value zeroPoint(int input, long expert, int bits, Shape parameters) {
    Value all = unpacked(input, expert, bits);
    int last = all.type().rank() - 1;
    Dim size = last == 0 ? parameters.dim(0) : parameters.dim(1);
    return of.reshape(of.slice(all, last, Dim.ZERO, size), parameters);
  }

  private Value unpacked(int input, long expert, int bits) {
    Tensor all = node.data(input);
    Shape rest = all.shape().range(1, all.shape().rank());
    TensorType type = new TensorType(all.element(), rest);
    Tensor packed = all.stretch(type, expert * type.bytes());
    int last = rest.rank() - 1;
    Shape elements = rest.with(last, rest.dim(last).times(Dim.of(8 / bits)));
    return node.constant(MicrosoftBlockQuantized.unpacked(packed, bits, elements));
  }
}
