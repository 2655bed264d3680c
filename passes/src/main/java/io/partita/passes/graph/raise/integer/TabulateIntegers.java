package io.partita.passes.graph.raise.integer;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code requantize(f(x)) -> lookup(x, table)} for bytes, or wider integers that a requantization
 * limits to those of bytes, and any elementwise functions f of x alone, such as those of an integer
 * hard-swish. {@link TabulateFunctions} is the same for quantizations.
 */
final class TabulateIntegers implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Requantize.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Requantize.class, op -> Tabulation.bytes(op).isPresent());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return Tabulation.lookup(node, (Requantize) node.op(), graph);
  }
}
