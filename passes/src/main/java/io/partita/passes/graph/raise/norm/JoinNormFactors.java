package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.uniform;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code norm(x)*a*b -> norm(x)*(a*b)} for numbers a and b, and no product if they cancel. */
final class JoinNormFactors implements RewriteRule {
  private static final Capture<Value> NORM = Capture.of("norm");
  private static final Capture<Value> INNER = Capture.of("inner");
  private static final Capture<Value> OUTER = Capture.of("outer");
  private static final Pattern PATTERN =
      mul(
              mul(op(Structured.Norm.class, Pattern.any()).as(NORM), uniform(INNER)).once(),
              uniform(OUTER))
          .ofTypeOf(NORM);

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
    double inner = Parameters.uniform(match.get(INNER), graph).orElseThrow();
    double outer = Parameters.uniform(match.get(OUTER), graph).orElseThrow();
    return Optional.of(NormFactors.times(match.get(NORM), inner * outer, graph));
  }
}
