package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.sub;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code c / √(mean(c²) + ε) -> layer_norm(x)}, where {@code c = x - mean(x)}. */
final class RaiseLayerNorm implements RewriteRule {
  private static final Pattern CENTER = sub(any(Moments.X), Moments.mean(any(Moments.X)));
  private static final Pattern VARIANCE = Moments.variance();
  private static final Pattern PATTERN =
      either(
              div(CENTER, Moments.deviation(VARIANCE)),
              mul(CENTER, Moments.inverseDeviation(VARIANCE)))
          .ofTypeOf(Moments.X);

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
    return Moments.norm(Structured.NormKind.LAYER, match, graph);
  }
}
