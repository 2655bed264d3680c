package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code softmax(i32(x)) -> i32(u8(softmax(x)))} of at most 256 levels: a value that wraps in the
 * type of x has the same bits in u8.
 */
final class NarrowSoftmax implements RewriteRule {
  private static final long LEVELS = 256;

  @Override
  public Class<? extends Op> root() {
    return IntegerNetwork.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(0, Narrow.WIDENED);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    boolean fits =
        switch ((IntegerNetwork) node.op()) {
          case IntegerNetwork.IntegerSoftmax softmax -> softmax.levels() <= LEVELS;
          // A sum over groups may be less than the share of one element.
          case IntegerNetwork.PowerSoftmax softmax ->
              softmax.levels() <= LEVELS && softmax.group() == 0;
          case IntegerNetwork other -> false;
        };
    if (!fits) {
      return Optional.empty();
    }
    return Narrow.source(graph.operand(node, 0), graph)
        .map(x -> graph.add(node.op(), x))
        .map(wrapped -> graph.add(new Elementwise.Cast(ElementType.U8), wrapped))
        .map(unsigned -> Narrow.widened(unsigned, graph));
  }
}
