package io.partita.passes.graph.raise.rotary;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code concat(rotary(x[:r]), x[r:]) -> rotary(x)}, where the tables rotate only r features. */
final class ExtendPartialRotation implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> FIRST = Capture.of("first");
  private static final Capture<Value> REST = Capture.of("rest");
  private static final Capture<Value> COSINES = Capture.of("cosines");
  private static final Capture<Value> SINES = Capture.of("sines");
  private static final Capture<Value> ROTATED = Capture.of("rotated");
  private static final Pattern PATTERN =
      op(
          Movement.Concat.class,
          op(
                  Structured.RotaryEmbedding.class,
                  op(Movement.Slice.class, any(X)).as(FIRST),
                  any(COSINES),
                  any(SINES))
              .as(ROTATED),
          op(Movement.Slice.class, any(X)).as(REST));

  @Override
  public Class<? extends Op> root() {
    return Movement.Concat.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    Shape shape = x.type().shape();
    Value first = match.get(FIRST);
    if (((Movement.Concat) node.op()).axis() != 3
        || !shape.fromEnd(0).isStatic()
        || !first.type().shape().fromEnd(0).isStatic()) {
      return Optional.empty();
    }
    long rotated = first.type().shape().fromEnd(0).value();
    boolean isWhole =
        RotaryTable.takes((Movement.Slice) first.definition().op(), shape, 0, rotated)
            && RotaryTable.takes(
                (Movement.Slice) match.get(REST).definition().op(),
                shape,
                rotated,
                shape.fromEnd(0).value())
            && match.get(COSINES).type().shape().fromEnd(0).is(rotated / 2);
    return isWhole
        ? Optional.of(
            graph.add(
                match.get(ROTATED).definition().op(), x, match.get(COSINES), match.get(SINES)))
        : Optional.empty();
  }
}
