package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
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
 * {@code pow(i8(x), y) -> i8(pow(i64(x), i64(y)))}, with base and exponent of one type that has a
 * kernel. A power of a float and an integer is computed in f64, which holds both.
 */
final class WidenPower implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Elementwise.Binary.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Elementwise.Binary.class, binary -> binary.function() == BinaryFunction.POW);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value base = graph.operand(node, 0);
    Value exponent = graph.operand(node, 1);
    ElementType wide = wide(base.type().element(), exponent.type().element());
    if (base.type().element() == wide && exponent.type().element() == wide) {
      return Optional.empty();
    }
    Terms terms = new Terms(graph);
    Value power =
        terms.binary(BinaryFunction.POW, terms.cast(base, wide), terms.cast(exponent, wide));
    return Optional.of(terms.cast(power, node.result().type().element()));
  }

  private static ElementType wide(ElementType base, ElementType exponent) {
    if (base.isFloat() || exponent.isFloat()) {
      return base == exponent && base == ElementType.F32 ? base : ElementType.F64;
    }
    if (base == exponent && base == ElementType.I32) {
      return base;
    }
    return base.kind() == ElementType.Kind.SIGNED ? ElementType.I64 : ElementType.U64;
  }
}
