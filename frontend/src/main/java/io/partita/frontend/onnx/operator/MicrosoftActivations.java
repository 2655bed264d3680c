package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import java.util.List;

/** Activations of com.microsoft with biases. */
final class MicrosoftActivations {
  private MicrosoftActivations() {}

  static void register(OperatorRegistry registry) {
    String domain = OperatorRegistry.MICROSOFT;
    registry.add(domain, "Gelu", 1, withBias(UnaryFunction.GELU));
    registry.add(domain, "BiasGelu", 1, withBias(UnaryFunction.GELU));
    registry.add(domain, "FastGelu", 1, withBias(UnaryFunction.GELU_TANH));
    registry.add(domain, "QuickGelu", 1, MicrosoftActivations::quickGelu);
    registry.add(domain, "BiasAdd", 1, MicrosoftActivations::biasAdd);
    registry.add(domain, "BiasSplitGelu", 1, MicrosoftActivations::biasSplitGelu);
    registry.add(domain, "SoftmaxGrad", 1, MicrosoftActivations::softmaxGradient);
  }

  private static OperatorImporter withBias(UnaryFunction function) {
    return node -> {
      Value x = node.input(0);
      Value sum = node.has(1) ? new Arithmetic(node).add(x, node.input(1)) : x;
      node.output(0, apply(node, function, sum));
    };
  }

  private static Value apply(NodeScope node, UnaryFunction function, Value x) {
    return node.add(new Elementwise.Unary(function), x);
  }

  /** {@code x sigmoid(α x)}. */
  private static void quickGelu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    double alpha = node.number("alpha", 1.702f);
    if (alpha == 1) {
      node.output(0, apply(node, UnaryFunction.SILU, x));
      return;
    }
    if (alpha == 1.702f) {
      node.output(0, apply(node, UnaryFunction.QUICK_GELU, x));
      return;
    }
    Value scaled = of.mul(x, node.scalarLike(x, alpha));
    Value gate = apply(node, UnaryFunction.SIGMOID, scaled);
    node.output(0, of.mul(x, gate));
  }

  private static void biasAdd(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value sum = of.add(node.input(0), node.input(1));
    node.output(0, of.add(sum, node.input(2)));
  }

  /** Multiplies the first half of the features with the GELU of the second. */
  private static void biasSplitGelu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value sum = of.add(node.input(0), node.input(1));
    int axis = sum.type().rank() - 1;
    Dim half = sum.type().dim(axis).dividedExactlyBy(Dim.of(2));
    if (half == null) {
      throw node.invalid("an even number of features", sum.type().toString());
    }
    Value left = of.slice(sum, axis, Dim.ZERO, half);
    Value right = of.slice(sum, axis, half, half);
    node.output(0, of.mul(left, apply(node, UnaryFunction.GELU, right)));
  }

  /** {@code y (dy - Σ dy y)} for the softmax y. */
  private static void softmaxGradient(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value gradient = node.input(0);
    Value y = node.input(1);
    int axis = node.axis(node.integer("axis", -1), y.type().rank());
    Value product = of.mul(gradient, y);
    Value sum = node.add(new Reduction.Reduce(ReductionKind.SUM, List.of(axis), true), product);
    node.output(0, of.mul(y, of.sub(gradient, sum)));
  }
}
