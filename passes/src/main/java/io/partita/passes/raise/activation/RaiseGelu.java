package io.partita.passes.raise.activation;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.scaled;
import static io.partita.passes.rewrite.Pattern.scaledProduct;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.UnaryFunction;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code x/2 (1 + erf(x/√2)) -> gelu(x)}. */
final class RaiseGelu implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      scaledProduct(
          0.5, any(X), add(unary(UnaryFunction.ERF, scaled(Math.sqrt(0.5), any(X))), number(1)));

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
    return Optional.of(graph.add(new Elementwise.Unary(UnaryFunction.GELU), match.get(X)));
  }
}
