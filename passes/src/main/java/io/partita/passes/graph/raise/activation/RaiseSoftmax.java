package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.commutative;
import static io.partita.passes.rewrite.Pattern.constant;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.sub;
import static io.partita.passes.rewrite.Pattern.unary;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
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
import java.util.List;
import java.util.Optional;

/**
 * {@code e / Σ e -> softmax(x)}, where {@code e = exp(x - max(x))}: the softmax of JAX, which also
 * takes the maximum of negative infinity and {@code max(x)}.
 */
final class RaiseSoftmax implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Capture<Value> POWERS = Capture.of("powers");
  private static final Capture<Value> LARGEST = Capture.of("largest");
  private static final Capture<Value> SUM = Capture.of("sum");
  private static final Pattern LARGEST_OF_ROW = reduced(ReductionKind.MAX, any(X)).as(LARGEST);
  private static final Pattern LEAST =
      constant(data -> data.size() == 1 && data.getDouble(0) == Double.NEGATIVE_INFINITY);
  private static final Pattern EXPONENTIALS =
      unary(
              UnaryFunction.EXP,
              sub(
                  any(X),
                  either(LARGEST_OF_ROW, commutative(BinaryFunction.MAX, LEAST, LARGEST_OF_ROW))))
          .as(POWERS);
  private static final Pattern SUM_OF_ROW = reduced(ReductionKind.SUM, any(POWERS)).as(SUM);
  private static final Pattern PATTERN =
      either(
              div(EXPONENTIALS, SUM_OF_ROW),
              mul(EXPONENTIALS, unary(UnaryFunction.RECIPROCAL, SUM_OF_ROW)))
          .ofTypeOf(X);

  private static Pattern reduced(ReductionKind kind, Pattern operand) {
    return Pattern.op(
        Reduction.Reduce.class,
        op -> op.reduction() == kind && op.keepDims() && op.axes().size() == 1,
        operand);
  }

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Binary.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    List<Integer> axes = axes(match.get(LARGEST), graph);
    return axes.equals(axes(match.get(SUM), graph))
        ? Optional.of(graph.add(new Reduction.Softmax(axes.getFirst(), false), match.get(X)))
        : Optional.empty();
  }

  private static List<Integer> axes(Value reduced, GraphEditor graph) {
    return ((Reduction.Reduce) graph.definition(reduced).orElseThrow().op()).axes();
  }
}
