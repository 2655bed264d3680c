package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.IntegerNorm;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code norm(i32(x)) -> i32(i8(norm(x)))}, if the range of the norm fits 8 bits: a value that
 * wraps in the type of x has the same bits in that of the range.
 */
final class NarrowNorm implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return IntegerNorm.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
            IntegerNorm.class, norm -> Narrow.type(norm.low(), norm.high()).isPresent())
        .and(Pattern.operand(0, Narrow.WIDENED));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    IntegerNorm op = (IntegerNorm) node.op();
    Value x = Narrow.source(graph.operand(node, 0), graph).orElseThrow();
    ElementType range = Narrow.type(op.low(), op.high()).orElseThrow();
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(0, x);
    Value wrapped = graph.add(op, operands);
    return Optional.of(Narrow.widened(graph.add(new Elementwise.Cast(range), wrapped), graph));
  }
}
