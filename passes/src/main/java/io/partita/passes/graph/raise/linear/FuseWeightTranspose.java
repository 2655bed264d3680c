package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code linear(x, transpose(w)) -> linear(x, w)}, with the attribute for transposed weights
 * inverted.
 */
final class FuseWeightTranspose implements RewriteRule {
  private static final Capture<Value> WEIGHT = Capture.of("weight");
  private static final Pattern TRANSPOSED = op(Movement.Transpose.class, any(WEIGHT));

  @Override
  public Class<? extends Op> root() {
    return Structured.Linear.class;
  }

  @Override
  public Pattern pattern() {
    return (value, graph, match) ->
        TRANSPOSED.match(graph.operand(value.definition(), 1), graph, match);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Structured.Linear linear = (Structured.Linear) node.op();
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(1, match.get(WEIGHT));
    return Optional.of(
        graph.add(new Structured.Linear(!linear.transposed(), linear.bias()), operands));
  }
}
