package io.partita.passes.graph.raise.rotary;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code cos(concat(f, f))[:r/2] -> cos(f)}: the unused second half of a table isn't computed. */
final class HalveRotaryTable implements RewriteRule {
  private static final Capture<Value> TABLE = Capture.of("table");
  private static final Pattern PATTERN = op(Movement.Slice.class, any(TABLE));

  @Override
  public Class<? extends Op> root() {
    return Movement.Slice.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value table = match.get(TABLE);
    Shape shape = table.type().shape();
    boolean isHalf =
        !table.isInput()
            && table.definition().constant().isEmpty()
            && !(table.definition().op() instanceof Movement.Slice)
            && shape.rank() > 0
            && shape.fromEnd(0).isStatic()
            && shape.fromEnd(0).value() % 2 == 0
            && RotaryTable.takes((Movement.Slice) node.op(), shape, 0, shape.fromEnd(0).value() / 2)
            && RotaryTable.hasEqualHalves(table, graph);
    return isHalf ? Optional.of(RotaryTable.halved(table, graph)) : Optional.empty();
  }
}
