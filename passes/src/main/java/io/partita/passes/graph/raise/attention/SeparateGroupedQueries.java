package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Restores the heads of a single query that were grouped as several queries of each kv head. */
final class SeparateGroupedQueries implements RewriteRule {
  private static final Capture<Value> Q = Capture.of("q");
  private static final Pattern PATTERN =
      Pattern.result(
              Structured.Attention.class,
              attention -> !attention.causal() && attention.window() == 0 && !attention.keyLength())
          .and(Pattern.operand(0, Pattern.op(Movement.Reshape.class, Pattern.any(Q))));

  @Override
  public Class<? extends Op> root() {
    return Structured.Attention.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value grouped = graph.operand(node, 0);
    Value q = match.get(Q);
    Shape apart = q.type().shape();
    Shape together = grouped.type().shape();
    boolean isGrouped =
        apart.rank() == 4
            && apart.dim(2).is(1)
            && !together.dim(2).is(1)
            && apart.dim(0).equals(together.dim(0))
            && apart.dim(3).equals(together.dim(3))
            && graph.operand(node, 1).type().dim(1).equals(together.dim(1))
            && isSameForAll(node, graph);
    if (!isGrouped) {
      return Optional.empty();
    }
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(0, q);
    Value result = graph.add(node.op(), operands);
    return Optional.of(graph.add(new Movement.Reshape(node.result().type().shape()), result));
  }

  /** Whether the mask, if any, is the same for all heads and queries. */
  private static boolean isSameForAll(Node node, GraphEditor graph) {
    if (!((Structured.Attention) node.op()).mask()) {
      return true;
    }
    Shape mask = graph.operand(node, 3).type().shape();
    return (mask.rank() < 3 || mask.fromEnd(2).is(1)) && (mask.rank() < 2 || mask.fromEnd(1).is(1));
  }
}
