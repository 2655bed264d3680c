package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code i8(i32(x)) -> i8(x)}, for any type instead of i8: 32 bits hold each value of x. */
final class CastNarrow implements RewriteRule {
  private static final Pattern PATTERN = Pattern.op(Elementwise.Cast.class, Narrow.WIDENED);

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Cast.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return Narrow.source(graph.operand(node, 0), graph).map(x -> graph.add(node.op(), x));
  }
}
