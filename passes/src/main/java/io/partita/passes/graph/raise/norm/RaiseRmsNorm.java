package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.square;

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

/** {@code x / √(mean(x²) + ε) -> rms_norm(x)}. */
final class RaiseRmsNorm implements RewriteRule {
  private static final Pattern POWER = Moments.mean(square(any(Moments.X)));
  private static final Pattern PATTERN =
      either(
              div(any(Moments.X), Moments.deviation(POWER)),
              mul(any(Moments.X), Moments.inverseDeviation(POWER)))
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
    return Moments.norm(Structured.NormKind.RMS, match, graph);
  }
}
