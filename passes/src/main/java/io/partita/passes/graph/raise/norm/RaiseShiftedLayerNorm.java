package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.sub;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
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
 * {@code x*f + (bias - mean(x)*f) -> layer_norm(x)*scale + bias}, where {@code f = scale /
 * √(mean((x - mean(x))²) + ε)}: layer norms of TensorFlow, which are computed as batch norms.
 */
final class RaiseShiftedLayerNorm implements RewriteRule {
  private static final Capture<Value> SCALE = Capture.of("scale");
  private static final Capture<Value> BIAS = Capture.of("bias");
  private static final Capture<Value> FACTOR = Capture.of("factor");
  private static final Pattern MEAN = Moments.mean(any(Moments.X));
  private static final Pattern FACTORS =
      mul(Moments.inverseDeviation(Moments.variance()), any(SCALE)).as(FACTOR);
  private static final Pattern SHIFT =
      either(
          sub(any(BIAS), mul(MEAN, any(FACTOR))),
          add(mul(unary(UnaryFunction.NEG, MEAN), any(FACTOR)), any(BIAS)));
  private static final Pattern PATTERN =
      add(mul(any(Moments.X), FACTORS), SHIFT).ofTypeOf(Moments.X);

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
    return Moments.norm(Structured.NormKind.LAYER, match, graph)
        .map(norm -> binary(BinaryFunction.MUL, norm, match.get(SCALE), graph))
        .map(scaled -> binary(BinaryFunction.ADD, scaled, match.get(BIAS), graph));
  }

  private static Value binary(BinaryFunction function, Value left, Value right, GraphEditor graph) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }
}
