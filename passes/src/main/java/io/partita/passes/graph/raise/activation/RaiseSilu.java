package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.UnaryFunction;
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

/** {@code x sigmoid(x) -> silu(x)}, and {@code x / (1 + exp(-x))}. */
final class RaiseSilu implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      either(
              mul(any(X), unary(UnaryFunction.SIGMOID, any(X))),
              div(any(X), RaiseSigmoid.inverse(any(X))))
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
    return Optional.of(graph.add(new Elementwise.Unary(UnaryFunction.SILU), match.get(X)));
  }
}
