package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.Optional;

/** Activation functions; those without an operation are expanded. */
final class ActivationOperators {
  private ActivationOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("LeakyRelu", ActivationOperators::leakyRelu);
    registry.add("PRelu", ActivationOperators::parametricRelu);
    registry.add("ThresholdedRelu", ActivationOperators::thresholdedRelu);
    registry.add("Elu", ActivationOperators::elu);
    registry.add("Celu", ActivationOperators::celu);
    registry.add("Selu", ActivationOperators::selu);
    registry.add("Mish", ActivationOperators::mish);
    registry.add("HardSigmoid", node -> node.output(0, hardSigmoid(node, 0.2, 0.5)));
    registry.add("HardSwish", ActivationOperators::hardSwish);
    registry.add("Shrink", ActivationOperators::shrink);
    registry.add("Softsign", ActivationOperators::softsign);
    registry.add("Gelu", ActivationOperators::gelu);
    registry.add("Swish", node -> node.output(0, swish(node, node.input(0))));
    registry.add("SwiGLU", ActivationOperators::swiGlu);
    registry.add("Clip", ActivationOperators::clipByAttributes);
    registry.add(OperatorRegistry.ONNX, "Clip", 11, ActivationOperators::clip);
  }

  /** {@code x < 0 ? alpha x : x}. */
  private static void leakyRelu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value negative = of.binary(BinaryFunction.LESS, x, 0);
    node.output(0, of.select(negative, of.mul(x, number(node, "alpha", 0.01)), x));
  }

  /** Returns an attribute as the single-precision number of the file. */
  private static double number(NodeScope node, String name, double otherwise) {
    return node.number(name, (float) otherwise);
  }

  /** {@code x < 0 ? slope x : x}. */
  private static void parametricRelu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value slope = node.input(1);
    // Before version 7, a slope vector broadcast along the channels instead of the last dimension.
    if (node.opset() < 7 && slope.type().rank() == 1 && !slope.type().dim(0).is(1)) {
      slope = of.alongAxis(slope, 1, x.type().rank());
    }
    Value negative = of.binary(BinaryFunction.LESS, x, 0);
    node.output(0, of.select(negative, of.mul(x, slope), x));
  }

  /** x > alpha ? x : 0. */
  private static void thresholdedRelu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value above = of.binary(BinaryFunction.GREATER, x, number(node, "alpha", 1));
    node.output(0, of.select(above, x, node.scalarLike(x, 0)));
  }

  /**
   * x > 0 ? x : alpha (e^x - 1); the exponent of unselected values is bounded, so that it does not
   * overflow.
   */
  private static Value exponentialTail(Arithmetic of, Value x, double alpha) {
    Value e = of.unary(UnaryFunction.EXP, of.min(x, 0));
    return of.mul(of.add(e, -1), alpha);
  }

  private static void elu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value tail = exponentialTail(of, x, number(node, "alpha", 1));
    node.output(0, of.select(of.binary(BinaryFunction.LESS, x, 0), tail, x));
  }

  /** max(0, x) + min(0, alpha (e^(x/alpha) - 1)). */
  private static void celu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    double alpha = number(node, "alpha", 1);
    Value e = of.unary(UnaryFunction.EXP, of.binary(BinaryFunction.DIV, x, alpha));
    Value tail = of.min(of.mul(of.add(e, -1), alpha), 0);
    node.output(0, of.add(of.max(x, 0), tail));
  }

  private static void selu(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value tail = exponentialTail(of, x, number(node, "alpha", 1.67326319217681884765625));
    Value bent = of.select(of.binary(BinaryFunction.LESS, x, 0), tail, x);
    node.output(0, of.mul(bent, number(node, "gamma", 1.05070102214813232421875)));
  }

  /** x tanh(softplus(x)). */
  private static void mish(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    node.output(0, of.mul(x, of.unary(UnaryFunction.TANH, of.unary(UnaryFunction.SOFTPLUS, x))));
  }

  /** max(0, min(1, alpha x + beta)). */
  private static Value hardSigmoid(NodeScope node, double alpha, double beta) {
    Arithmetic of = new Arithmetic(node);
    Value line =
        of.add(of.mul(node.input(0), number(node, "alpha", alpha)), number(node, "beta", beta));
    return of.max(of.min(line, 1), 0);
  }

  private static void hardSwish(NodeScope node) {
    node.output(0, new Arithmetic(node).unary(UnaryFunction.HARD_SWISH, node.input(0)));
  }

  /**
   * {@code x < -lambd ? x + bias : x > lambd ? x - bias : 0}, computed in floats for integers, too.
   */
  private static void shrink(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    ElementType element = node.type(0).element();
    Value x = element.isFloat() ? node.input(0) : of.cast(node.input(0), ElementType.F64);
    double lambd = number(node, "lambd", 0.5);
    double bias = number(node, "bias", 0);
    Value zero = node.scalarLike(x, 0);
    Value up = of.select(of.binary(BinaryFunction.GREATER, x, lambd), of.add(x, -bias), zero);
    Value both = of.select(of.binary(BinaryFunction.LESS, x, -lambd), of.add(x, bias), up);
    node.output(0, of.cast(both, element));
  }

  private static void softsign(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    node.output(0, of.div(x, of.add(of.unary(UnaryFunction.ABS, x), 1)));
  }

  private static void gelu(NodeScope node) {
    UnaryFunction function =
        switch (node.text("approximate", "none")) {
          case "none" -> UnaryFunction.GELU;
          case "tanh" -> UnaryFunction.GELU_TANH;
          case String other -> throw node.invalid("approximate none or tanh", other);
        };
    node.output(0, new Arithmetic(node).unary(function, node.input(0)));
  }

  /** x sigmoid(alpha x). */
  private static Value swish(NodeScope node, Value x) {
    Arithmetic of = new Arithmetic(node);
    double alpha = number(node, "alpha", 1);
    return alpha == 1
        ? of.unary(UnaryFunction.SILU, x)
        : of.mul(x, of.unary(UnaryFunction.SIGMOID, of.mul(x, alpha)));
  }

  private static void swiGlu(NodeScope node) {
    node.output(0, new Arithmetic(node).mul(swish(node, node.input(0)), node.input(1)));
  }

  private static void clipByAttributes(NodeScope node) {
    Value x = node.input(0);
    node.output(0, clip(node, bound(node, x, "min"), bound(node, x, "max")));
  }

  private static Optional<Value> bound(NodeScope node, Value x, String name) {
    return node.hasAttribute(name)
        ? Optional.of(node.scalarLike(x, node.number(name)))
        : Optional.empty();
  }

  private static void clip(NodeScope node) {
    if (node.hasAttribute("min") || node.hasAttribute("max")) {
      clipByAttributes(node);
      return;
    }
    node.output(0, clip(node, node.optionalInput(1), node.optionalInput(2)));
  }

  /** min(max(x, low), high); if low exceeds high, the result is high. */
  private static Value clip(NodeScope node, Optional<Value> low, Optional<Value> high) {
    Arithmetic of = new Arithmetic(node);
    Value x = node.input(0);
    Value above = low.isPresent() ? of.max(x, scalar(of, low.get())) : x;
    return high.isPresent() ? of.min(above, scalar(of, high.get())) : above;
  }

  private static Value scalar(Arithmetic of, Value bound) {
    return of.reshape(bound, Shape.SCALAR);
  }
}
