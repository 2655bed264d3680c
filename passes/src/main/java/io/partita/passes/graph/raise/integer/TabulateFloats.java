package io.partita.passes.graph.raise.integer;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code f(dequantize(x)) -> lookup(x, table)} for bytes and a function f of f32 that takes more
 * than a load, as a kernel approximates it. {@link TabulateFunctions} is for functions whose
 * results are quantized, too.
 */
final class TabulateFloats implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Elementwise.Unary.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Elementwise.Unary.class, unary -> unary.function().isCostly());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return node.result().type().element() == ElementType.F32
        ? Tabulation.lookup(node, graph)
        : Optional.empty();
  }
}
