package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * {@code sum(x) -> a x} over rows, with a matrix of ones and zeros, and {@code sum(x) -> x 1} over
 * columns, for kernels on pages, of which only products sum. Means are sums times {@code 1/n};
 * those of a few rows have a kernel, which adds the rows with all their bits, and a sum of squares
 * to one number is a part of one that verifies an approximation.
 */
final class ReduceByProduct implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Reduction.Reduce.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
            Reduction.Reduce.class,
            op -> op.reduction() == ReductionKind.SUM || op.reduction() == ReductionKind.MEAN)
        .and(
            Pattern.operand(
                0,
                Pattern.any()
                    .where(x -> x.type().element().isFloat() && x.type().shape().elements() > 0)));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Reduction.Reduce reduce = (Reduction.Reduce) node.op();
    Terms terms = new Terms(graph);
    Value x = graph.operand(node, 0);
    if (TileBlocks.isMeanOfFewRows(reduce, x.type().shape()) || isSquaredNorm(node, x, graph)) {
      return Optional.empty();
    }
    List<Integer> axes = new ArrayList<>(reduce.axes());
    int last = x.type().rank() - 1;
    Value sums = axes.remove(Integer.valueOf(last)) ? columnSums(terms, x) : x;
    if (!axes.isEmpty()) {
      sums = rowSums(terms, sums, axes);
    }
    sums = terms.reshaped(sums, node.result().type().shape());
    long count =
        reduce.axes().stream()
            .mapToLong(axis -> x.type().shape().extent(axis))
            .reduce(1, Math::multiplyExact);
    return Optional.of(
        reduce.reduction() == ReductionKind.SUM
            ? sums
            : terms.binary(BinaryFunction.MUL, sums, terms.number(sums, 1.0 / count)));
  }

  private static boolean isSquaredNorm(Node node, Value x, GraphEditor graph) {
    return ((Reduction.Reduce) node.op()).reduction() == ReductionKind.SUM
        && node.result().type().shape().elements() == 1
        && !x.isInput()
        && x.definition().op().equals(new Elementwise.Binary(BinaryFunction.MUL))
        && graph.operand(x.definition(), 0).equals(graph.operand(x.definition(), 1));
  }

  private static Value columnSums(Terms terms, Value x) {
    Shape shape = Shape.of(x.type().shape().fromEnd(0).value(), 1);
    Value ones =
        terms.graph().constant(Tensor.filled(new TensorType(x.type().element(), shape), 1));
    return product(terms, x, ones);
  }

  /** Sums of rows that differ in some dimensions before the last one. */
  private static Value rowSums(Terms terms, Value x, List<Integer> axes) {
    Shape shape = x.type().shape();
    int last = shape.rank() - 1;
    int rows = Math.toIntExact(shape.range(0, last).elements());
    int[] sums = new int[rows];
    int stride = 1;
    int kept = 1;
    for (int axis = last - 1; axis >= 0; axis--) {
      int extent = Math.toIntExact(shape.extent(axis));
      if (!axes.contains(axis)) {
        int own = stride;
        int next = kept;
        Arrays.setAll(sums, row -> sums[row] + row / own % extent * next);
        kept *= extent;
      }
      stride *= extent;
    }
    double[] isTerm = new double[Math.multiplyExact(kept, rows)];
    for (int row = 0; row < rows; row++) {
      isTerm[sums[row] * rows + row] = 1;
    }
    Tensor ones = Tensor.ofDoubles(TensorType.of(x.type().element(), kept, rows), isTerm);
    Value matrix = terms.reshaped(x, Shape.of(rows, shape.extent(last)));
    return product(terms, terms.graph().constant(ones), matrix);
  }

  private static Value product(Terms terms, Value left, Value right) {
    return terms.graph().add(new Structured.Linear(false, false), left, right);
  }
}
