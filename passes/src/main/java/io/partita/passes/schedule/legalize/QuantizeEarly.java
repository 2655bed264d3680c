package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Quantize;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code quantize(reshape(x)) -> reshape(quantize(x))}, and the same with {@code transpose}, with
 * one scale and one zero point, and {@code requantize} with one multiplier and one addend: so the
 * loop that computes x can quantize it, too.
 */
final class QuantizeEarly implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> MOVED = Capture.of("moved");
  private static final Pattern REORDERED =
      either(op(Movement.Reshape.class, any(X)), op(Movement.Transpose.class, any(X)))
          .as(MOVED)
          .once();
  private static final Pattern PATTERN =
      either(
          op(Quantize.class, REORDERED, any(), any()),
          op(Requantize.class, REORDERED, any(), any()));

  @Override
  public Class<? extends Op> root() {
    return Op.class;
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

  /** Whether the scale and the zero point, or the multiplier and the addend, are scalars. */
  static boolean hasOneScale(Node node) {
    return node.operands().stream().skip(1).allMatch(scale -> scale.type().rank() == 0);
  }
}
