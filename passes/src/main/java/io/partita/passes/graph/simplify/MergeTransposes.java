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
import java.util.List;
import java.util.Optional;

/** {@code transpose(transpose(x, p), q) -> transpose(x, p∘q)}. */
final class MergeTransposes implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> INNER = Capture.of("inner");
  private static final Pattern PATTERN =
      Pattern.op(
          Movement.Transpose.class, Pattern.op(Movement.Transpose.class, Pattern.any(X)).as(INNER));

  @Override
  public Class<? extends Op> root() {
    return Movement.Transpose.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Integer> outer = ((Movement.Transpose) node.op()).permutation();
    List<Integer> inner = ((Movement.Transpose) match.get(INNER).definition().op()).permutation();
    List<Integer> merged = outer.stream().map(inner::get).toList();
    return Optional.of(graph.add(new Movement.Transpose(merged), match.get(X)));
  }
}
