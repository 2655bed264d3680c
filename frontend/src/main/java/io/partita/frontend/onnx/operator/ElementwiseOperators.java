package io.partita.frontend.onnx.operator;

import io.partita.ir.op.Elementwise;
import io.partita.ir.op.UnaryFunction;

/** Operators that compute each element from the elements at the same place. */
final class ElementwiseOperators {
  private ElementwiseOperators() {}

  static void register(OperatorRegistry registry) {
    registry.add("Relu", unary(UnaryFunction.RELU));
  }

  private static OperatorImporter unary(UnaryFunction function) {
    return node -> node.output(0, node.add(new Elementwise.Unary(function), node.input(0)));
  }
}
