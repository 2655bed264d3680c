package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.mask.MaskMeaning;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Replaces a mask that hides later keys, or no keys, by attributes of the attention. */
final class RecognizeCausalMask implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Structured.Attention.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Structured.Attention.class,
        attention -> attention.mask() && !attention.causal() && !attention.keyLength());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Shape scores = scores(node, graph);
    MaskMeaning meaning = MaskMeaning.of(graph.operand(node, 3), scores, graph);
    boolean isExact =
        meaning.hidden() == Double.NEGATIVE_INFINITY || meaning.everyQuerySeesAKey(scores);
    if (!meaning.reason().isEmpty()
        || !meaning.padding().isEmpty()
        || !isExact
        || meaning.hidden() > MaskTerm.HIDDEN) {
      return Optional.empty();
    }
    AttentionChange change = AttentionChange.of((Structured.Attention) node.op()).withoutMask();
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.remove(3);
    return Optional.of(
        graph.add(
            meaning.causal() ? change.causal(meaning.offset(), meaning.window()).op() : change.op(),
            operands));
  }

  /** {@code [batch, heads, seq, keys]}. */
  static Shape scores(Node attention, GraphEditor graph) {
    Shape q = graph.operand(attention, 0).type().shape();
    return q.with(3, graph.operand(attention, 1).type().dim(2));
  }
}
