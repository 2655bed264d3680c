package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code f16(norm(f32(x))) -> norm(x)}: a norm always computes its statistics in f32. */
final class RemoveNormCasts implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> NORM = Capture.of("norm");
  private static final Pattern PATTERN =
      op(
          Elementwise.Cast.class,
          op(
                  Structured.Norm.class,
                  norm -> !norm.scale() && !norm.bias(),
                  op(Elementwise.Cast.class, cast -> cast.to() == ElementType.F32, any(X)))
              .as(NORM));

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
    ElementType element = x.type().element();
    boolean isNarrow = element == ElementType.F16 || element == ElementType.BF16;
    return isNarrow && node.result().type().equals(x.type())
        ? Optional.of(graph.add(match.get(NORM).definition().op(), x))
        : Optional.empty();
  }
}
