package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code requantize(concat(x, y)) -> concat(requantize(x), requantize(y))} with one multiplier and
 * one addend, if x or y is an input: requantizing it takes the place of a copy, and the loop that
 * computes the other one can requantize it, too.
 */
final class RequantizeParts implements RewriteRule {
  private static final Pattern PATTERN =
      op(
          Requantize.class,
          Pattern.result(Movement.Concat.class, concat -> true).once(),
          Pattern.any(),
          Pattern.any());

  @Override
  public Class<? extends Op> root() {
    return Requantize.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Node concat = graph.operand(node, 0).definition();
    List<Value> parts = graph.operands(concat);
    if (!QuantizeEarly.hasOneScale(node) || parts.stream().noneMatch(Value::isInput)) {
      return Optional.empty();
    }
    List<Value> requantized =
        parts.stream()
            .map(part -> graph.add(node.op(), part, graph.operand(node, 1), graph.operand(node, 2)))
            .toList();
    return Optional.of(graph.add(concat.op(), requantized));
  }
}
