package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Separates the batch from the heads of an attention if a reshape of an operand merged them. */
final class SeparateBatchFromHeads implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Structured.Attention.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Structured.Attention.class, attention -> !attention.keyLength())
        .where(value -> value.type().dim(0).is(1));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Shape heads = graph.operand(node, 0).type().shape().range(0, 2);
    if (!graph.operand(node, 1).type().shape().range(0, 2).equals(heads)) {
      return Optional.empty();
    }
    for (int i = 0; i < 3; i++) {
      Shape leading = joined(graph.operand(node, i), graph);
      if (leading != null && !leading.dim(0).is(1) && leading.size().equals(heads.size())) {
        return Optional.of(separated(node, leading, graph));
      }
    }
    return Optional.empty();
  }

  /** Returns batch and heads of {@code [1, batch*heads, n, d]} if a reshape merged them. */
  private static Shape joined(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node != null && node.op() instanceof Movement.Transpose(List<Integer> permutation)) {
      return permutation.equals(List.of(0, 1, 3, 2))
          ? LeadingDimensions.mergedIn(graph.operand(node, 0), graph)
          : null;
    }
    return LeadingDimensions.mergedIn(value, graph);
  }

  private static Value separated(Node node, Shape leading, GraphEditor graph) {
    List<Value> operands = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      operands.add(LeadingDimensions.separate(graph.operand(node, i), leading, graph));
    }
    if (((Structured.Attention) node.op()).mask()) {
      Value mask = graph.operand(node, 3);
      Shape q = graph.operand(node, 0).type().shape();
      Dim keys = graph.operand(node, 1).type().dim(2);
      operands.add(LeadingDimensions.regrouped(mask, q.with(3, keys), leading, graph));
    }
    return graph.add(
        new Movement.Reshape(node.result().type().shape()), graph.add(node.op(), operands));
  }
}
