package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.any;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code linear(act(linear(x))) -> ffn(x)}. */
final class RaiseFfn implements RewriteRule {
  private static final Capture<Value> ACTIVATED = Capture.of("activated");
  private static final Capture<Value> UP = Capture.of("up");
  private static final Pattern HIDDEN =
      Pattern.op(
              Elementwise.Unary.class,
              unary -> FfnOperands.isActivation(unary.function()),
              FfnOperands.linear(any(UP)).once())
          .as(ACTIVATED)
          .once();

  @Override
  public Class<? extends Op> root() {
    return Structured.Linear.class;
  }

  @Override
  public Pattern pattern() {
    return (value, graph, match) ->
        HIDDEN.match(graph.operand(value.definition(), 0), graph, match);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Node up = match.get(UP).definition();
    Elementwise.Unary activation = (Elementwise.Unary) match.get(ACTIVATED).definition().op();
    List<Value> operands = new ArrayList<>();
    operands.add(graph.operand(up, 0));
    operands.addAll(FfnOperands.weights(up, graph));
    operands.addAll(FfnOperands.weights(node, graph));
    return Optional.of(
        graph.add(
            new Structured.Ffn(
                activation.function(),
                false,
                false,
                FfnOperands.hasBias(up),
                FfnOperands.hasBias(node)),
            operands));
  }
}
