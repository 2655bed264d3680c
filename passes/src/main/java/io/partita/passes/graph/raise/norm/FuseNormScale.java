package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;

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
import java.util.List;
import java.util.Optional;

/** {@code norm(x) * scale -> norm(x, scale)}, where the scale is a weight. */
final class FuseNormScale implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> NORM = Capture.of("norm");
  private static final Capture<Value> SCALE = Capture.of("scale");
  private static final Pattern PATTERN =
      mul(
              op(Structured.Norm.class, norm -> !norm.scale() && !norm.bias(), any(X)).as(NORM),
              any(SCALE))
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
    Structured.Norm norm = (Structured.Norm) match.get(NORM).definition().op();
    Structured.Norm scaled =
        new Structured.Norm(norm.kind(), norm.axis(), norm.epsilon(), true, false);
    return NormOperand.of(match.get(SCALE), norm, match.get(X), graph)
        .map(scale -> graph.add(scaled, List.of(match.get(X), scale)));
  }
}
