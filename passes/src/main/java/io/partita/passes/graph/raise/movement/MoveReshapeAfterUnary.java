package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code f(reshape(x)) -> reshape(f(x))}, so that reshapes meet and cancel. */
final class MoveReshapeAfterUnary implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> RESHAPED = Capture.of("reshaped");
  private static final Pattern PATTERN =
      op(
          Elementwise.class,
          op -> op instanceof Elementwise.Unary || op instanceof Elementwise.Cast,
          op(Movement.Reshape.class, any(X)).as(RESHAPED).once());

  @Override
  public Class<? extends Op> root() {
    return Elementwise.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value moved = graph.add(node.op(), match.get(X));
    return Optional.of(graph.add(match.get(RESHAPED).definition().op(), moved));
  }
}
