package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.square;
import static io.partita.passes.rewrite.Pattern.sub;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code (x - mean(x)) (scale / √(variance + ε)) -> layer_norm(x)*scale}, and the same of an RMS
 * norm: the order in which Flax multiplies.
 */
final class RaiseScaledNorm implements RewriteRule {
  private static final Capture<Value> SCALE = Capture.of("scale");
  private static final Capture<Value> CENTERED = Capture.of("centered");
  private static final Pattern CENTER =
      sub(any(Moments.X), Moments.mean(any(Moments.X))).as(CENTERED);
  private static final Pattern POWER = Moments.mean(square(any(Moments.X)));
  private static final Pattern PATTERN =
      either(
              mul(CENTER, mul(Moments.inverseDeviation(Moments.variance()), any(SCALE))),
              mul(any(Moments.X), mul(Moments.inverseDeviation(POWER), any(SCALE))))
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
    Structured.NormKind kind =
        match.has(CENTERED) ? Structured.NormKind.LAYER : Structured.NormKind.RMS;
    return Moments.norm(kind, match, graph)
        .map(norm -> graph.add(new Elementwise.Binary(BinaryFunction.MUL), norm, match.get(SCALE)));
  }
}
