package io.partita.passes.program.localize;

import io.partita.ir.factor.Linearity;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Simplifies operations whose operands are partly zero. */
final class ZeroTerms {
  private ZeroTerms() {}

  /** An operation on some of the operands, by index. */
  record Rest(Op op, List<Integer> operands) {}

  /**
   * Whether all results are zero. An empty operand has a summed factor, and the sum of no elements
   * is zero.
   */
  static boolean isZero(NodeLayouts layouts, List<Local> operands) {
    Linearity linearity = layouts.splits().rule().linearity();
    return !linearity.terms().isEmpty()
        && linearity.kinds().contains(ReductionKind.SUM)
        && linearity.terms().stream()
            .allMatch(term -> term.stream().anyMatch(operand -> isZero(operands.get(operand))));
  }

  private static boolean isZero(Local local) {
    return local instanceof Local.Zeros || local instanceof Local.Nothing;
  }

  /** Returns the only nonzero operand of a sum of two, or -1. */
  static int onlyTerm(Op op, List<Local> operands) {
    if (op instanceof Elementwise.Binary(BinaryFunction function)
        && function == BinaryFunction.ADD) {
      for (int i = 0; i < 2; i++) {
        if (operands.get(1 - i) instanceof Local.Zeros) {
          return i;
        }
      }
    }
    return -1;
  }

  /** Omits zero biases. */
  static Rest without(Op op, List<Local> operands) {
    int last = operands.size() - 1;
    boolean isLast = last >= 0 && operands.get(last) instanceof Local.Zeros;
    Op changed = op;
    if (isLast && op instanceof Structured.Linear(boolean transposed, boolean bias) && bias) {
      changed = new Structured.Linear(transposed, false);
    } else if (isLast && op instanceof Structured.Ffn f && f.downBias()) {
      changed = new Structured.Ffn(f.activation(), f.gated(), f.gateBias(), f.upBias(), false);
    }
    int count = changed.equals(op) ? operands.size() : last;
    return new Rest(changed, new ArrayList<>(IntStream.range(0, count).boxed().toList()));
  }
}
