package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.mul;

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

/** {@code linear(act(linear(x)) * linear(x)) -> gated_ffn(x)}. */
final class RaiseGatedFfn implements RewriteRule {
  private static final Capture<Value> ACTIVATED = Capture.of("activated");
  private static final Capture<Value> GATE = Capture.of("gate");
  private static final Capture<Value> UP = Capture.of("up");
  private static final Pattern HIDDEN =
      mul(
              Pattern.op(
                      Elementwise.Unary.class,
                      unary -> FfnOperands.isGate(unary.function()),
                      FfnOperands.linear(any(GATE)).once())
                  .as(ACTIVATED)
                  .once(),
              FfnOperands.linear(any(UP)).once())
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
    Node gate = match.get(GATE).definition();
    Node up = match.get(UP).definition();
    if (graph.operand(gate, 0) != graph.operand(up, 0)
        || !match.get(GATE).type().equals(match.get(UP).type())) {
      return Optional.empty();
    }
    Elementwise.Unary activation = (Elementwise.Unary) match.get(ACTIVATED).definition().op();
    List<Value> operands = new ArrayList<>();
    operands.add(graph.operand(up, 0));
    operands.addAll(FfnOperands.weights(gate, graph));
    operands.addAll(FfnOperands.weights(up, graph));
    operands.addAll(FfnOperands.weights(node, graph));
    return Optional.of(
        graph.add(
            new Structured.Ffn(
                activation.function(),
                true,
                FfnOperands.hasBias(gate),
                FfnOperands.hasBias(up),
                FfnOperands.hasBias(node)),
            operands));
  }
}
