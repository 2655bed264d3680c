package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code requantize(x) -> cast(x)} for bytes, each of which is its own result, as where a cache and
 * a new key have the same scale.
 */
final class RemoveRequantization implements RewriteRule {
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
    ElementType result = node.result().type().element();
    return ByteRequantization.table(node, graph)
        .filter(table -> isIdentity(x.type().element(), table))
        .map(table -> graph.add(new Elementwise.Cast(result), x));
  }

  private static boolean isIdentity(ElementType domain, Tensor table) {
    Tensor values = Lookup.arguments(domain, domain);
    for (int i = 0; i < values.size(); i++) {
      if (values.getLong(i) != table.getLong(i)) {
        return false;
      }
    }
    return true;
  }
}
