package io.partita.ir.op;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;

/** Operations that compute each element of the result from the elements at the same position. */
public sealed interface Elementwise extends Op {
  record Unary(UnaryFunction function) implements Elementwise {
    @Override
    public String mnemonic() {
      return function.text();
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      TensorType type = operands.getFirst();
      ElementType element = type.element();
      if (function.acceptsBooleans()) {
        Require.element(type, ElementType.BOOL, "an operand");
      } else if (!function.acceptsFloats()) {
        Require.that(element.isInteger(), "an integer operand", type);
      } else {
        Require.that(
            element.isFloat() || function.acceptsIntegers() && element.isInteger(),
            function.acceptsIntegers() ? "a numeric operand" : "a floating-point operand",
            type);
      }
      return List.of(function.isPredicate() ? type.with(ElementType.BOOL) : type);
    }
  }

  /** Two operands that broadcast by NumPy's rule. */
  record Binary(BinaryFunction function) implements Elementwise {
    @Override
    public String mnemonic() {
      return function.text();
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType left = operands.get(0);
      TensorType right = operands.get(1);
      if (function != BinaryFunction.POW) {
        Require.sameElement(left, right);
      }
      if (function.isLogical()) {
        Require.element(left, ElementType.BOOL, "an operand");
      } else if (function.isBitwise()) {
        Require.that(left.element().isInteger(), "integer operands", left);
      } else if (function != BinaryFunction.EQUAL) {
        Require.that(left.element() != ElementType.BOOL, "numeric operands", left);
      }
      Shape shape = Require.broadcast(left.shape(), right.shape());
      ElementType element = function.isComparison() ? ElementType.BOOL : left.element();
      return List.of(new TensorType(element, shape));
    }
  }

  /** {@code condition ? then : otherwise}; all three broadcast. */
  record Select() implements Elementwise {
    @Override
    public String mnemonic() {
      return "select";
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      Require.element(operands.get(0), ElementType.BOOL, "a condition");
      Require.sameElement(operands.get(1), operands.get(2));
      Shape shape = Require.broadcast(operands.get(1).shape(), operands.get(2).shape());
      return List.of(
          new TensorType(
              operands.get(1).element(), Require.broadcast(operands.get(0).shape(), shape)));
    }
  }

  /**
   * Conversion to another element type: floats to integers by rounding towards zero and wrapping,
   * integers to integers by wrapping, to floats by rounding half to even, to booleans by comparison
   * with zero.
   */
  record Cast(ElementType to) implements Elementwise {
    @Override
    public String mnemonic() {
      return "cast";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.word("to", to.text());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      return List.of(operands.getFirst().with(to));
    }
  }
}
