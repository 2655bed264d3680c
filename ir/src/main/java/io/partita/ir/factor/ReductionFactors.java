package io.partita.ir.factor;

import io.partita.ir.factor.Factor.Use;
import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Rules of reductions: lines are parallel; operations along them are reductions or need the whole
 * line.
 */
final class ReductionFactors {
  private ReductionFactors() {}

  static FactorRule rule(Reduction op, TensorType x, List<TensorType> results) {
    return switch (op) {
      case Reduction.Reduce reduce -> reduce(reduce, x);
      case Reduction.ArgReduce arg -> argReduce(arg, x);
      case Reduction.Cumulative c ->
          line(c.axis(), x, c.product() ? Linearity.NONE : Linearity.of(Linearity.SUM, Set.of(0)));
      case Reduction.Softmax softmax -> line(softmax.axis(), x, Linearity.NONE);
      case Reduction.TopK top -> topK(top, x, results);
    };
  }

  private static FactorRule reduce(Reduction.Reduce op, TensorType x) {
    Builder rule = new Builder();
    Use use = use(op.reduction(), x.element());
    int[] dims = new int[x.rank()];
    List<int[]> kept = new ArrayList<>();
    for (int dim = 0; dim < dims.length; dim++) {
      boolean reduced = op.axes().contains(dim);
      dims[dim] = rule.factor(reduced ? use : Use.PARALLEL, x.dim(dim));
      if (!reduced) {
        kept.add(new int[] {dims[dim]});
      } else if (op.keepDims()) {
        kept.add(new int[0]);
      }
    }
    return rule.operand(dims).result(kept).finish(linearity(op.reduction(), x.element()));
  }

  /** The mean of narrow floats is rounded once, from a wider sum. */
  private static Use use(ReductionKind kind, ElementType element) {
    boolean wide = element == ElementType.F32 || element == ElementType.F64;
    if (element == ElementType.BOOL) {
      return Use.WHOLE;
    }
    return switch (kind) {
      case SUM -> Use.SUM;
      case MEAN -> wide ? Use.SUM : Use.WHOLE;
      case MAX -> Use.MAX;
      case MIN -> Use.MIN;
      case PRODUCT -> Use.WHOLE;
    };
  }

  private static Linearity linearity(ReductionKind kind, ElementType element) {
    Set<ReductionKind> kinds =
        switch (kind) {
          case SUM -> Linearity.SUM;
          case MEAN -> element.isFloat() ? Linearity.SUM : Set.of();
          case MAX -> Set.of(ReductionKind.MAX);
          case MIN -> Set.of(ReductionKind.MIN);
          case PRODUCT -> Set.of();
        };
    return kinds.isEmpty() ? Linearity.NONE : Linearity.of(kinds, Set.of(0));
  }

  /** Returns a rule that is parallel except along the axis, which the result has too. */
  private static FactorRule line(int axis, TensorType x, Linearity linearity) {
    Builder rule = new Builder();
    int[] dims = dims(rule, axis, x);
    return rule.operand(dims).result(dims).finish(linearity);
  }

  private static int[] dims(Builder rule, int axis, TensorType x) {
    int[] dims = new int[x.rank()];
    for (int dim = 0; dim < dims.length; dim++) {
      dims[dim] = dim == axis ? rule.whole(x.dim(dim)) : rule.parallel(x.dim(dim));
    }
    return dims;
  }

  private static FactorRule argReduce(Reduction.ArgReduce arg, TensorType x) {
    Builder rule = new Builder();
    int[] dims = dims(rule, arg.axis(), x);
    rule.operand(dims);
    List<int[]> kept = new ArrayList<>();
    for (int dim = 0; dim < dims.length; dim++) {
      if (dim != arg.axis()) {
        kept.add(new int[] {dims[dim]});
      } else if (arg.keepDims()) {
        kept.add(new int[0]);
      }
    }
    return rule.result(kept).finish(Linearity.NONE);
  }

  private static FactorRule topK(Reduction.TopK top, TensorType x, List<TensorType> results) {
    Builder rule = new Builder();
    int[] dims = dims(rule, top.axis(), x);
    rule.operand(dims);
    int[] chosen = dims.clone();
    chosen[top.axis()] = rule.whole(results.getFirst().dim(top.axis()));
    return rule.result(chosen).result(chosen).finish(Linearity.NONE);
  }
}
