package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code reshape(sum(x)) -> sum(x)} that keeps its axes with extent 1, and the same of other
 * reductions: PyTorch's exporter reduces a variance so.
 */
final class KeepReducedDimensions implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> REDUCED = Capture.of("reduced");
  private static final Pattern PATTERN =
      op(
          Movement.Reshape.class,
          op(Reduction.Reduce.class, reduce -> !reduce.keepDims(), any(X)).as(REDUCED).once());

  @Override
  public Class<? extends Op> root() {
    return Movement.Reshape.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Reduction.Reduce reduce = (Reduction.Reduce) match.get(REDUCED).definition().op();
    Shape kept = match.get(X).type().shape();
    for (int axis : reduce.axes()) {
      kept = kept.with(axis, Dim.ONE);
    }
    return kept.equals(((Movement.Reshape) node.op()).to())
        ? Optional.of(
            graph.add(new Reduction.Reduce(reduce.reduction(), reduce.axes(), true), match.get(X)))
        : Optional.empty();
  }
}
