package io.partita.passes.graph.raise.rotary;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code x cos + concat(-x₂, x₁) sin -> rotary_embedding(x)}, where {@code x₁, x₂} are the halves
 * of x, and both tables have equal halves.
 */
final class RaiseRotaryEmbedding implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> LOW = Capture.of("low");
  private static final Capture<Value> HIGH = Capture.of("high");
  private static final Capture<Value> COSINES = Capture.of("cosines");
  private static final Capture<Value> SINES = Capture.of("sines");
  private static final Pattern ROTATED =
      op(
          Movement.Concat.class,
          unary(UnaryFunction.NEG, op(Movement.Slice.class, any(X)).as(HIGH)),
          op(Movement.Slice.class, any(X)).as(LOW));
  private static final Pattern PATTERN = add(mul(ROTATED, any(SINES)), mul(any(X), any(COSINES)));

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Binary.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    if (!x.type().equals(node.result().type())
        || !RotatedPair.areHalves(x, match.get(LOW), match.get(HIGH))
        || !RotaryTable.hasEqualHalves(match.get(COSINES), graph)
        || !RotaryTable.hasEqualHalves(match.get(SINES), graph)) {
      return Optional.empty();
    }
    return RotatedPair.rotate(
        x,
        RotaryTable.firstHalf(match.get(COSINES), graph),
        RotaryTable.firstHalf(match.get(SINES), graph),
        false,
        graph);
  }
}
