package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code reshape(linear(x)) + b -> reshape(linear(x) + b)}, where b is a bias along features. */
final class MoveBiasBeforeReshape implements RewriteRule {
  private static final Capture<Value> LINEAR = Capture.of("linear");
  private static final Capture<Value> BIAS = Capture.of("bias");
  private static final Pattern PATTERN =
      add(
          op(
                  Movement.Reshape.class,
                  any(LINEAR)
                      .where(
                          value ->
                              !value.isInput()
                                  && value.definition().op() instanceof Structured.Linear))
              .once(),
          any(BIAS));

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
    Value linear = match.get(LINEAR);
    Value bias = match.get(BIAS);
    Shape shape = node.result().type().shape();
    Shape vector = Shape.of(linear.type().shape().fromEnd(0));
    if (!shape.size().equals(linear.type().shape().size())
        || !shape.fromEnd(0).equals(vector.dim(0))
        || !Parameters.isOneOuter(bias.type().shape(), vector)
        || !Parameters.isParameter(bias, graph)) {
      return Optional.empty();
    }
    Value sum = graph.add(node.op(), linear, Parameters.reshaped(bias, vector, graph));
    return Optional.of(graph.add(new Movement.Reshape(shape), sum));
  }
}
