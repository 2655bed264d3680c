package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.someOperand;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/** {@code concat(x, empty) -> concat(x)}. Rotations of all features have an empty remainder. */
final class RemoveEmptyParts implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.Concat.class;
  }

  @Override
  public Pattern pattern() {
    return someOperand(part -> part.type().shape().dims().stream().anyMatch(dim -> dim.is(0)));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    int axis = ((Movement.Concat) node.op()).axis();
    List<Value> parts =
        graph.operands(node).stream().filter(part -> !part.type().dim(axis).is(0)).toList();
    return parts.size() < node.operands().size() && !parts.isEmpty()
        ? Optional.of(graph.add(node.op(), parts))
        : Optional.empty();
  }
}
