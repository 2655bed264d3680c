package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.commutative;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.scaled;
import static io.partita.passes.rewrite.Pattern.scaledProduct;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.BinaryFunction;
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

/**
 * {@code x max(min(x/6 + 1/2, 1), 0) -> hard_swish(x)}, also {@code x max(min(x + 3, 6), 0) / 6}.
 */
final class RaiseHardSwish implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern PATTERN =
      either(
              mul(any(X), clipped(add(scaled(1.0 / 6, any(X)), number(0.5)), 1)),
              scaledProduct(1.0 / 6, any(X), clipped(add(any(X), number(3)), 6)))
          .ofTypeOf(X);

  /** Matches a clamp to {@code [0, high]}, with the bounds in either order. */
  private static Pattern clipped(Pattern x, double high) {
    return either(
        commutative(
            BinaryFunction.MAX, commutative(BinaryFunction.MIN, x, number(high)), number(0)),
        commutative(
            BinaryFunction.MIN, commutative(BinaryFunction.MAX, x, number(0)), number(high)),
        commutative(BinaryFunction.MIN, unary(UnaryFunction.RELU, x), number(high)));
  }

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
    return Optional.of(graph.add(new Elementwise.Unary(UnaryFunction.HARD_SWISH), match.get(X)));
  }
}
