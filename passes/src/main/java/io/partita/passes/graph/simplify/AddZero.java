package io.partita.passes.graph.simplify;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code x + 0 -> x} for integers, as with a bias of zeros. A float of -0 plus 0 has other bits.
 */
final class AddZero implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      Pattern.add(
              Pattern.any(X),
              Pattern.constant(
                  zeros -> zeros.type().element().isInteger() && zeros.isFilledWith(0)))
          .ofTypeOf(X);

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
    return Optional.of(match.get(X));
  }
}
