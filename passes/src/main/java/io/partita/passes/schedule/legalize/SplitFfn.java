package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured.Ffn;
import io.partita.ir.op.Structured.Linear;
import io.partita.passes.graph.anatomy.BlockRoles;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * {@code ffn(x) -> linear(act(linear(x)))}, or {@code linear(act(linear(x)) * linear(x))}. Every
 * network is split, so the pattern matches any operands.
 */
final class SplitFfn implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Ffn.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any();
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Ffn ffn = (Ffn) node.op();
    Deque<Value> rest = new ArrayDeque<>(graph.operands(node));
    Value x = rest.removeFirst();
    Elementwise.Unary activation = new Elementwise.Unary(ffn.activation());
    boolean bias = ffn.gated() ? ffn.gateBias() : ffn.upBias();
    graph.inRole(ffn.gated() ? BlockRoles.GATE : BlockRoles.UP);
    Value hidden = graph.add(activation, linear(x, bias, rest, graph));
    if (ffn.gated()) {
      graph.inRole(BlockRoles.UP);
      Value up = linear(x, ffn.upBias(), rest, graph);
      hidden = graph.add(new Elementwise.Binary(BinaryFunction.MUL), hidden, up);
    }
    graph.inRole(BlockRoles.DOWN);
    return Optional.of(linear(hidden, ffn.downBias(), rest, graph));
  }

  private static Value linear(Value x, boolean bias, Deque<Value> rest, GraphEditor graph) {
    List<Value> operands = new ArrayList<>(List.of(x, rest.removeFirst()));
    if (bias) {
      operands.add(rest.removeFirst());
    }
    return graph.add(new Linear(false, bias), operands);
  }
}
