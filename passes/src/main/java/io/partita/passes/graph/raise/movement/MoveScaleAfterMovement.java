package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.uniform;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code transpose(x*c) -> transpose(x)*c}, so that the scale of queries is next to the attention.
 */
final class MoveScaleAfterMovement implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> SCALE = Capture.of("scale");
  private static final Capture<Value> SCALED = Capture.of("scaled");
  private static final Pattern INNER =
      either(mul(any(X), uniform(SCALE)), div(any(X), uniform(SCALE))).as(SCALED).once();

  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.either(
        Pattern.op(Movement.Reshape.class, INNER), Pattern.op(Movement.Transpose.class, INNER));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    Value scaled = match.get(SCALED);
    if (!x.type().equals(scaled.type()) || graph.constant(x).isPresent()) {
      return Optional.empty();
    }
    double scale = graph.constant(match.get(SCALE)).orElseThrow().getDouble(0);
    Value moved = graph.add(node.op(), x);
    Value factor = graph.constant(Tensor.scalar(x.type().element(), scale));
    return Optional.of(graph.add(scaled.definition().op(), moved, factor));
  }
}
