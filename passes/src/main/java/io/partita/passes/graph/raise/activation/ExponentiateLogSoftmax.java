package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/** {@code exp(log_softmax(x)) -> softmax(x)}. */
final class ExponentiateLogSoftmax implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> LOGARITHMS = Capture.of("logarithms");
  private static final Pattern PATTERN =
      unary(
          UnaryFunction.EXP,
          Pattern.op(Reduction.Softmax.class, Reduction.Softmax::logarithm, any(X)).as(LOGARITHMS));

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Unary.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Node logarithms = graph.definition(match.get(LOGARITHMS)).orElseThrow();
    int axis = ((Reduction.Softmax) logarithms.op()).axis();
    return Optional.of(graph.add(new Reduction.Softmax(axis, false), match.get(X)));
  }
}
