package io.partita.passes.graph.raise.rotary;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.sub;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code concat(x₁ c - x₂ s, x₂ c + x₁ s) -> rotary_embedding(x)}, where {@code x₁, x₂} are the
 * halves of x.
 */
final class RaiseSplitRotation implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> LOW = Capture.of("low");
  private static final Capture<Value> HIGH = Capture.of("high");
  private static final Capture<Value> COSINES = Capture.of("cosines");
  private static final Capture<Value> SINES = Capture.of("sines");
  private static final Pattern PATTERN =
      op(
          Movement.Concat.class,
          sub(
              mul(op(Movement.Slice.class, any(X)).as(LOW), any(COSINES)),
              mul(op(Movement.Slice.class, any(X)).as(HIGH), any(SINES))),
          add(mul(any(HIGH), any(COSINES)), mul(any(LOW), any(SINES))));

  @Override
  public Class<? extends Op> root() {
    return Movement.Concat.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    return ((Movement.Concat) node.op()).axis() == x.type().rank() - 1
            && x.type().equals(node.result().type())
            && RotatedPair.areHalves(x, match.get(LOW), match.get(HIGH))
        ? RotatedPair.rotate(x, match.get(COSINES), match.get(SINES), false, graph)
        : Optional.empty();
  }
}
