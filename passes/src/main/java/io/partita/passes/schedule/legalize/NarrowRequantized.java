package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code i32 requantize(x) -> i32(i8 requantize(x))}, if its range fits 8 bits. */
final class NarrowRequantized implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Requantize.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Requantize.class,
        op -> op.to() == ElementType.I32 && Narrow.type(op.low(), op.high()).isPresent());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Requantize op = (Requantize) node.op();
    return Narrow.type(op.low(), op.high())
        .map(type -> new Requantize(op.shift(), op.low(), op.high(), type))
        .map(narrow -> Narrow.widened(graph.add(narrow, graph.operands(node)), graph));
  }
}
