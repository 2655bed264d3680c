package io.partita.passes.graph.raise.attention;

import static io.partita.passes.rewrite.Pattern.any;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code matmul(softmax(scores of q and k), v) -> attention(q, k, v)}. */
final class RaiseAttention implements RewriteRule {
  private static final Capture<Value> SOFTMAX = Capture.of("softmax");
  static final Pattern PROBABILITIES =
      Probabilities.through(
          Pattern.op(
                  Reduction.Softmax.class,
                  softmax -> !softmax.logarithm(),
                  any().where(scores -> scores.type().rank() >= 3))
              .as(SOFTMAX));
  private static final Pattern PATTERN = Pattern.op(Contraction.MatMul.class, PROBABILITIES, any());

  @Override
  public Class<? extends Op> root() {
    return Contraction.MatMul.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return scores(match, graph)
        .flatMap(found -> AttentionOperands.of(found, graph.operand(node, 1), 0, graph))
        .map(operands -> operands.attention(node, graph));
  }

  /** Returns the masked scores of {@link #PROBABILITIES}. */
  static Optional<Scores> scores(Match match, GraphEditor graph) {
    Node softmax = match.get(SOFTMAX).definition();
    if (((Reduction.Softmax) softmax.op()).axis() != softmax.result().type().rank() - 1) {
      return Optional.empty();
    }
    Optional<Scores> scores = new ScoreTrace(graph).trace(graph.operand(softmax, 0));
    return match.has(Probabilities.ZEROED)
        ? scores.flatMap(
            found ->
                Probabilities.hidingZeroed(found.masks(), match.get(Probabilities.ZEROED), graph)
                    .map(found::with))
        : scores;
  }
}
