package io.partita.passes.graph.raise.attention;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.unary;
import static io.partita.passes.rewrite.Pattern.uniform;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code x*m + c*(not m) -> select(m, x, c)}, where m is boolean and c a number: masks as tf2onnx
 * writes them. Scores are finite, so {@code x*0} is zero.
 */
final class SelectInsteadOfProducts implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> VISIBLE = Capture.of("visible");
  private static final Capture<Value> HIDDEN = Capture.of("hidden");
  private static final Pattern MASK =
      any(VISIBLE).where(mask -> mask.type().element() == ElementType.BOOL);
  private static final Pattern PATTERN =
      add(
              mul(any(X), op(Elementwise.Cast.class, MASK)),
              mul(
                  uniform(HIDDEN),
                  op(Elementwise.Cast.class, unary(UnaryFunction.NOT, any(VISIBLE)))))
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
    double hidden = graph.constant(match.get(HIDDEN)).orElseThrow().getDouble(0);
    return Double.isFinite(hidden)
        ? Optional.of(
            graph.add(
                new Elementwise.Select(),
                match.get(VISIBLE),
                match.get(X),
                graph.constant(Tensor.scalar(node.result().type().element(), hidden))))
        : Optional.empty();
  }
}
