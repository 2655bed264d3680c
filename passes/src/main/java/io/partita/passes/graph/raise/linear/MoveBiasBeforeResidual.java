package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code (linear(x) + residual) + b -> (linear(x) + b) + residual}, so that b becomes the bias. */
final class MoveBiasBeforeResidual implements RewriteRule {
  private static final Capture<Value> LINEAR = Capture.of("linear");
  private static final Capture<Value> RESIDUAL = Capture.of("residual");
  private static final Capture<Value> BIAS = Capture.of("bias");
  private static final Pattern PATTERN =
      add(
          add(
                  any(LINEAR)
                      .where(
                          value ->
                              !value.isInput()
                                  && value.definition().op() instanceof Structured.Linear linear
                                  && !linear.bias())
                      .once(),
                  any(RESIDUAL))
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
    Shape vector = Shape.of(linear.type().shape().fromEnd(0));
    boolean isBias =
        node.result().type().equals(linear.type())
            && Parameters.isOneOuter(bias.type().shape(), vector)
            && Parameters.isParameter(bias, graph)
            && !Parameters.isParameter(match.get(RESIDUAL), graph);
    return isBias
        ? Optional.of(graph.add(node.op(), graph.add(node.op(), linear, bias), match.get(RESIDUAL)))
        : Optional.empty();
  }
}
