package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code i32(i8 requantize(x)) -> i32 requantize(x)}, if the narrow form has no other use. */
final class RequantizeWide implements RewriteRule {
  private static final Capture<Value> NARROW = Capture.of("narrow");
  private static final Pattern PATTERN =
      op(
          Elementwise.Cast.class,
          cast -> cast.to() == ElementType.I32,
          op(
                  Requantize.class,
                  requantize -> Narrow.type(requantize.low(), requantize.high()).isPresent(),
                  Pattern.any(),
                  Pattern.any(),
                  Pattern.any())
              .as(NARROW)
              .once());

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Cast.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Node narrow = match.get(NARROW).definition();
    Requantize op = (Requantize) narrow.op();
    boolean holds = op.low() >= op.to().minimum() && op.high() <= op.to().maximum();
    return holds
        ? Optional.of(
            graph.add(
                new Requantize(op.shift(), op.low(), op.high(), ElementType.I32),
                graph.operands(narrow)))
        : Optional.empty();
  }
}
