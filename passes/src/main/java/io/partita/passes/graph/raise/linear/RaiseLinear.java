package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code matmul(x, weight) -> linear(x, weight)}, where the weight is known at compile time. */
final class RaiseLinear implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> WEIGHT = Capture.of("weight");
  private static final Pattern PATTERN =
      op(
          Contraction.MatMul.class,
          matmul -> matmul.result().isFloat(),
          any(X),
          any(WEIGHT).where(weight -> weight.type().rank() == 2));

  @Override
  public Class<? extends Op> root() {
    return Contraction.MatMul.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return Parameters.isParameter(match.get(WEIGHT), graph)
        ? Optional.of(
            graph.add(new Structured.Linear(false, false), match.get(X), match.get(WEIGHT)))
        : Optional.empty();
  }
}
