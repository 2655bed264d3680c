package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code linear(x, w) + b -> linear(x, w, b)}, where b is a weight along the last dimension. */
final class FuseLinearBias implements RewriteRule {
  private static final Capture<Value> LINEAR = Capture.of("linear");
  private static final Capture<Value> BIAS = Capture.of("bias");
  private static final Pattern PATTERN =
      add(
          any(LINEAR)
              .where(
                  value ->
                      !value.isInput()
                          && value.definition().op() instanceof Structured.Linear linear
                          && !linear.bias())
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
    Value value = match.get(LINEAR);
    Value bias = match.get(BIAS);
    if (!node.result().type().equals(value.type())) {
      return Optional.empty();
    }
    Node linear = value.definition();
    boolean transposed = ((Structured.Linear) linear.op()).transposed();
    return Parameters.asVector(bias, value.type().shape().fromEnd(0), graph)
        .map(
            vector ->
                graph.add(
                    new Structured.Linear(transposed, true),
                    graph.operand(linear, 0),
                    graph.operand(linear, 1),
                    vector));
  }
}
