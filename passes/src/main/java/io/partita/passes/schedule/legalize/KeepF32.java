package io.partita.passes.schedule.legalize;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code f32(f16(x)) -> x}: values between loops aren't rounded to 16 bits. */
final class KeepF32 implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> HALF = Capture.of("half");
  private static final Pattern PATTERN =
      op(
          Elementwise.Cast.class,
          cast -> cast.to() == ElementType.F32,
          op(Elementwise.Cast.class, any(X)).as(HALF));

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
    Value x = match.get(X);
    return x.type().element() == ElementType.F32 && ComputeInF32.isHalf(match.get(HALF))
        ? Optional.of(x)
        : Optional.empty();
  }
}
