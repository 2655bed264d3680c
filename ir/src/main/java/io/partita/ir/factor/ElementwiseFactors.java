package io.partita.ir.factor;

import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Set;

/** Rules of elementwise operations: all dimensions are parallel. */
final class ElementwiseFactors {
  private static final Set<ReductionKind> EXTREMES = Set.of(ReductionKind.MAX, ReductionKind.MIN);

  private ElementwiseFactors() {}

  static FactorRule rule(Elementwise op, List<TensorType> operands, TensorType result) {
    Builder rule = new Builder();
    int[] dims = rule.parallel(result.shape());
    operands.forEach(operand -> rule.broadcast(operand, dims));
    return rule.result(dims).finish(linearity(op, operands.getFirst().element()));
  }

  private static Linearity linearity(Elementwise op, ElementType element) {
    return switch (op) {
      case Elementwise.Unary(UnaryFunction function) -> unary(function);
      case Elementwise.Binary(BinaryFunction function) -> binary(function, element);
      case Elementwise.Select select -> Linearity.of(Linearity.ANY, Set.of(1), Set.of(2));
      case Elementwise.Cast(ElementType to) -> cast(element, to);
    };
  }

  /**
   * Returns the linearity: -(x + y) = -x - y; an increasing function of a maximum is the maximum of
   * the function.
   */
  private static Linearity unary(UnaryFunction function) {
    if (function.isAdditive()) {
      return Linearity.of(Linearity.SUM, Set.of(0));
    }
    return function.keepsExtremes() ? Linearity.of(EXTREMES, Set.of(0)) : Linearity.NONE;
  }

  private static Linearity binary(BinaryFunction function, ElementType element) {
    return switch (function) {
      case ADD, SUB -> Linearity.of(Linearity.SUM, Set.of(0), Set.of(1));
      case MUL -> Linearity.of(Linearity.SUM, Set.of(0, 1));
      // Integer division rounds.
      case DIV -> element.isFloat() ? Linearity.of(Linearity.SUM, Set.of(0)) : Linearity.NONE;
      case MAX -> Linearity.of(Set.of(ReductionKind.MAX), Set.of(0), Set.of(1));
      case MIN -> Linearity.of(Set.of(ReductionKind.MIN), Set.of(0), Set.of(1));
      case POW,
          MOD,
          REMAINDER,
          AND,
          OR,
          XOR,
          BIT_AND,
          BIT_OR,
          BIT_XOR,
          SHIFT_LEFT,
          SHIFT_RIGHT,
          EQUAL,
          LESS,
          LESS_OR_EQUAL,
          GREATER,
          GREATER_OR_EQUAL ->
          Linearity.NONE;
    };
  }

  /**
   * Casts are linear between floats, apart from rounding, and between integers modulo the width, if
   * it does not grow.
   */
  private static Linearity cast(ElementType from, ElementType to) {
    boolean floats = from.isFloat() && to.isFloat();
    boolean narrows = from.isInteger() && to.isInteger() && to.bits() <= from.bits();
    return floats || narrows ? Linearity.of(Linearity.SUM, Set.of(0)) : Linearity.NONE;
  }
}
