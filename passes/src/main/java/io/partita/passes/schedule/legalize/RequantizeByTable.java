package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code requantize(x) -> lookup(x, table)} for many bytes with one multiplier and one addend, as
 * those of a cache: an entry of a table is loaded in a quarter of the time.
 */
final class RequantizeByTable implements RewriteRule {
  /** For fewer elements, loading the table takes longer. */
  private static final long LEAST_ELEMENTS = 1024;

  private static final Pattern PATTERN =
      op(Requantize.class, Pattern.any(), Pattern.any(), Pattern.any());

  @Override
  public Class<? extends Op> root() {
    return Requantize.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = graph.operand(node, 0);
    boolean isLong =
        node.result().type().element().isByte() && x.type().shape().elements() >= LEAST_ELEMENTS;
    return isLong
        ? ByteRequantization.table(node, graph)
            .map(table -> graph.add(new Lookup(), x, graph.constant(table)))
        : Optional.empty();
  }
}
