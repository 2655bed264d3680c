package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code requantize(reshape(x)) -> reshape(requantize(x))} with one multiplier and one addend: so
 * the loop that computes x can requantize it, too.
 */
final class RequantizeEarly implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> MOVED = Capture.of("moved");
  private static final Pattern PATTERN =
      op(
          Requantize.class,
          op(Movement.Reshape.class, Pattern.any(X)).as(MOVED).once(),
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
    if (!hasOneScale(node)) {
      return Optional.empty();
    }
    Value before =
        graph.add(node.op(), match.get(X), graph.operand(node, 1), graph.operand(node, 2));
    return Optional.of(graph.add(match.get(MOVED).definition().op(), before));
  }

  /** Whether the multiplier and the addend, or the scale and the zero point, are scalars. */
  static boolean hasOneScale(Node node) {
    return node.operands().stream().skip(1).allMatch(scale -> scale.type().rank() == 0);
  }
}
