package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code exchange(i4 x) -> i4(exchange(i8(x)))}: a slice of a message may begin or end inside a
 * byte, so each element is sent as a byte.
 */
final class UnpackMessages implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Exchange.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Exchange.class, exchange -> exchange.element().bits() < Byte.SIZE);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Exchange exchange = (Exchange) node.op();
    ElementType nibble = exchange.element();
    ElementType wide = UnpackNibbles.wide(nibble);
    Terms terms = new Terms(graph);
    List<Value> operands =
        graph.operands(node).stream().map(each -> terms.cast(each, wide)).toList();
    graph.supersede(node);
    return Optional.of(terms.cast(graph.add(widened(exchange, wide), operands), nibble));
  }

  private static Exchange widened(Exchange exchange, ElementType wide) {
    return new Exchange(
        exchange.sync(),
        exchange.elements(),
        wide,
        exchange.before(),
        exchange.after(),
        exchange.steps().stream().map(step -> widened(step, wide)).toList());
  }

  private static Step widened(Step step, ElementType wide) {
    long bytes = wide.packedBytes(Slice.elements(step.slices()));
    return switch (step) {
      case Step.Send send -> new Step.Send(send.to(), send.slices(), bytes);
      case Step.Receive in -> new Step.Receive(in.from(), in.slices(), bytes, in.combine());
    };
  }
}
