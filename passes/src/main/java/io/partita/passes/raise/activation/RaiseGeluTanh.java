package io.partita.passes.raise.activation;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.binary;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.scaled;
import static io.partita.passes.rewrite.Pattern.scaledProduct;
import static io.partita.passes.rewrite.Pattern.square;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.UnaryFunction;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))) -> gelu_tanh(x)}. */
final class RaiseGeluTanh implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final double SLOPE = Math.sqrt(2 / Math.PI);
  private static final double CUBIC = 0.044715;
  private static final Pattern CUBE =
      either(binary(BinaryFunction.POW, any(X), number(3)), mul(any(X), square(any(X))));

  /** {@code √(2/π) x (1 + 0.044715 x²)} is the other way to write the argument. */
  private static final Pattern ARGUMENT =
      either(
          scaled(SLOPE, add(any(X), scaled(CUBIC, CUBE))),
          scaled(
              SLOPE,
              add(
                  any(X),
                  either(
                      mul(scaled(CUBIC, any(X)), square(any(X))),
                      mul(scaled(CUBIC, square(any(X))), any(X)),
                      mul(mul(scaled(CUBIC, any(X)), any(X)), any(X))))),
          scaledProduct(SLOPE, any(X), add(scaled(CUBIC, square(any(X))), number(1))));

  private static final Pattern PATTERN =
      scaledProduct(0.5, any(X), add(unary(UnaryFunction.TANH, ARGUMENT), number(1)));

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
    return Optional.of(graph.add(new Elementwise.Unary(UnaryFunction.GELU_TANH), match.get(X)));
  }
}
