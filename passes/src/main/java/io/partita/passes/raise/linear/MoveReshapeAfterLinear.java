package io.partita.passes.raise.linear;

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
 * {@code linear(reshape(x)) -> reshape(linear(x))}, where the reshape leaves the last dimension
 * alone: exporters flatten batch and sequence for a linear and undo it after.
 */
final class MoveReshapeAfterLinear implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern RESHAPED = op(Movement.Reshape.class, any(X));

  @Override
  public Class<? extends Op> root() {
    return Structured.Linear.class;
  }

  @Override
  public Pattern pattern() {
    return (value, graph, match) ->
        RESHAPED.match(graph.operand(value.definition(), 0), graph, match);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    Value reshaped = graph.operand(node, 0);
    if (x.type().rank() == 0
        || !x.type().shape().fromEnd(0).equals(reshaped.type().shape().fromEnd(0))) {
      return Optional.empty();
    }
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(0, x);
    Value moved = graph.add(node.op(), operands);
    return Optional.of(graph.add(new Movement.Reshape(node.result().type().shape()), moved));
  }
}
