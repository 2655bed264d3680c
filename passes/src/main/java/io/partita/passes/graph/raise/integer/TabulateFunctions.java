package io.partita.passes.graph.raise.integer;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Quantize;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code quantize(f(dequantize(x))) -> lookup(x, table)} for bytes and any elementwise function f
 * of x alone, in any number of nodes, with lookups and quantizations in between. If the table has
 * each byte itself, the result is x. The reference evaluator computes the table, so the results are
 * those of the nodes, bit for bit.
 */
final class TabulateFunctions implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Quantize.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Quantize.class, op -> op.to().isByte());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return Tabulation.lookup(node, graph);
  }
}
