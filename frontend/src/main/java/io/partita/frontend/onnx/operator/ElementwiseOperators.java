package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.ElementType;
import java.util.Map;

/** Operators that compute each element from the elements at the same position. */
final class ElementwiseOperators {
  private ElementwiseOperators() {}

  private static final Map<String, BinaryFunction> BINARY =
      Map.ofEntries(
          Map.entry("Add", BinaryFunction.ADD),
          Map.entry("Sub", BinaryFunction.SUB),
          Map.entry("Mul", BinaryFunction.MUL),
          Map.entry("Div", BinaryFunction.DIV),
          Map.entry("Pow", BinaryFunction.POW),
          Map.entry("And", BinaryFunction.AND),
          Map.entry("Or", BinaryFunction.OR),
          Map.entry("Xor", BinaryFunction.XOR),
          Map.entry("BitwiseAnd", BinaryFunction.BIT_AND),
          Map.entry("BitwiseOr", BinaryFunction.BIT_OR),
          Map.entry("BitwiseXor", BinaryFunction.BIT_XOR),
          Map.entry("Equal", BinaryFunction.EQUAL),
          Map.entry("Less", BinaryFunction.LESS),
          Map.entry("LessOrEqual", BinaryFunction.LESS_OR_EQUAL),
          Map.entry("Greater", BinaryFunction.GREATER),
          Map.entry("GreaterOrEqual", BinaryFunction.GREATER_OR_EQUAL));

  static void register(OperatorRegistry registry) {
    for (UnaryFunction function : UnaryFunction.values()) {
      function.onnxOperator().ifPresent(name -> registry.add(name, unary(function)));
    }
    BINARY.forEach((name, function) -> registry.add(name, binary(function)));
    registry.add("Max", variadic(BinaryFunction.MAX));
    registry.add("Min", variadic(BinaryFunction.MIN));
    registry.add("Sum", variadic(BinaryFunction.ADD));
    registry.add("Mean", ElementwiseOperators::mean);
    registry.add("Mod", ElementwiseOperators::mod);
    registry.add("BitShift", ElementwiseOperators::bitShift);
    registry.add("IsInf", ElementwiseOperators::isInf);
    registry.add("Where", node -> select(node));
    registry.add("Identity", node -> node.output(0, node.input(0)));
    registry.add("Cast", ElementwiseOperators::cast);
    registry.add("CastLike", node -> cast(node, node.type(1).element()));
  }

  private static OperatorImporter unary(UnaryFunction function) {
    return node -> node.output(0, node.add(new Elementwise.Unary(function), node.input(0)));
  }

  private static OperatorImporter binary(BinaryFunction function) {
    return node -> {
      Value right = alignedOperand(node);
      node.output(0, node.add(new Elementwise.Binary(function), node.input(0), right));
    };
  }

  /**
   * Returns the second operand. Before version 7, it broadcast only with {@code broadcast=1}, with
   * its dimensions aligned to those of the first operand from {@code axis}.
   */
  private static Value alignedOperand(NodeScope node) {
    Value right = node.input(1);
    if (!node.flag("broadcast", false) || !node.hasAttribute("axis")) {
      return right;
    }
    int rank = node.shape(0).rank();
    int axis = node.axis(node.integer("axis"), rank);
    return new Arithmetic(node).alongAxis(right, axis, Math.max(rank, axis + right.type().rank()));
  }

  private static OperatorImporter variadic(BinaryFunction function) {
    return node -> node.output(0, joined(node, function));
  }

  private static Value joined(NodeScope node, BinaryFunction function) {
    Value result = node.input(0);
    for (int i = 1; i < node.inputs(); i++) {
      result = node.add(new Elementwise.Binary(function), result, node.input(i));
    }
    return result;
  }

  private static void mean(NodeScope node) {
    Value sum = joined(node, BinaryFunction.ADD);
    node.output(0, new Arithmetic(node).binary(BinaryFunction.DIV, sum, node.inputs()));
  }

  /**
   * Imports Mod: with {@code fmod=1}, the remainder of C with the sign of the dividend; else with
   * that of the divisor.
   */
  private static void mod(NodeScope node) {
    BinaryFunction function =
        node.flag("fmod", false) ? BinaryFunction.REMAINDER : BinaryFunction.MOD;
    node.output(0, new Arithmetic(node).binary(function, node.input(0), node.input(1)));
  }

  private static void bitShift(NodeScope node) {
    BinaryFunction function =
        switch (node.text("direction", "")) {
          case "LEFT" -> BinaryFunction.SHIFT_LEFT;
          case "RIGHT" -> BinaryFunction.SHIFT_RIGHT;
          case String other -> throw node.invalid("direction LEFT or RIGHT", other);
        };
    node.output(0, new Arithmetic(node).binary(function, node.input(0), node.input(1)));
  }

  private static void isInf(NodeScope node) {
    Arithmetic is = new Arithmetic(node);
    Value x = node.input(0);
    boolean positive = node.flag("detect_positive", true);
    boolean negative = node.flag("detect_negative", true);
    if (positive && negative) {
      Value up = is.unary(UnaryFunction.IS_POSITIVE_INFINITY, x);
      Value down = is.unary(UnaryFunction.IS_NEGATIVE_INFINITY, x);
      node.output(0, is.binary(BinaryFunction.OR, up, down));
    } else if (positive || negative) {
      node.output(
          0,
          is.unary(
              positive ? UnaryFunction.IS_POSITIVE_INFINITY : UnaryFunction.IS_NEGATIVE_INFINITY,
              x));
    } else {
      Value never = node.constant(io.partita.ir.tensor.Tensor.scalar(ElementType.BOOL, 0));
      node.output(0, is.broadcast(never, node.shape(0)));
    }
  }

  private static void select(NodeScope node) {
    node.output(0, new Arithmetic(node).select(node.input(0), node.input(1), node.input(2)));
  }

  private static void cast(NodeScope node) {
    if (!node.hasAttribute("to")) {
      throw node.invalid("an attribute to", "none");
    }
    cast(node, node.element("to", node.type(0).element()));
  }

  private static void cast(NodeScope node, ElementType to) {
    node.output(0, new Arithmetic(node).cast(node.input(0), to));
  }
}
