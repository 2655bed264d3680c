package io.partita.passes.graph.simplify;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code reshape(reshape(x)) -> reshape(x)}. */
final class MergeReshapes implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      Pattern.op(Movement.Reshape.class, Pattern.op(Movement.Reshape.class, Pattern.any(X)));

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
    return Optional.of(graph.add(node.op(), match.get(X)));
  }
}
