package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.number;
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

/** {@code 1 / (1 + exp(-x)) -> sigmoid(x)}. */
final class RaiseSigmoid implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      either(div(number(1), inverse(any(X))), unary(UnaryFunction.RECIPROCAL, inverse(any(X))))
          .ofTypeOf(X);

  /** Matches {@code 1 + exp(-x)}. */
  static Pattern inverse(Pattern x) {
    return add(number(1), unary(UnaryFunction.EXP, unary(UnaryFunction.NEG, x)));
  }

  @Override
  public Class<? extends Op> root() {
    return Elementwise.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return Optional.of(graph.add(new Elementwise.Unary(UnaryFunction.SIGMOID), match.get(X)));
  }
}
