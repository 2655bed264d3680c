package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.commutative;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
import static io.partita.passes.rewrite.Pattern.op;
import static io.partita.passes.rewrite.Pattern.square;
import static io.partita.passes.rewrite.Pattern.unary;
import static io.partita.passes.rewrite.Pattern.uniform;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code x / max(√Σx², δ) -> rms_norm(x) / √n}, where n is the number of elements of a row, and the
 * length may have a factor: {@code normalize} of PyTorch, and norms written with it. The norm's ε
 * is {@code δ²/n}, so that a row of zeros stays one. Rows change that are hardly longer than δ,
 * which the rule takes only if it is that of a row of tiny elements.
 */
final class RaiseLengthNorm implements RewriteRule {
  /** The largest δ, divided by √n: a thousand of it changes a norm by half a rounding of f32. */
  private static final double LARGEST = 1e-6;

  private static final Capture<Value> SUM = Capture.of("sum");
  private static final Capture<Value> FACTOR = Capture.of("factor");
  private static final Capture<Value> LEAST = Capture.of("least");
  private static final Pattern LENGTH =
      unary(
          UnaryFunction.SQRT,
          op(
                  Reduction.Reduce.class,
                  reduce -> reduce.reduction() == ReductionKind.SUM && reduce.keepDims(),
                  square(any(Moments.X)))
              .as(SUM));
  private static final Pattern SCALED = either(mul(LENGTH, uniform(FACTOR)), LENGTH);
  private static final Pattern CLAMPED =
      either(commutative(BinaryFunction.MAX, SCALED, uniform(LEAST)), SCALED);
  private static final Pattern PATTERN =
      div(any(Moments.X), either(op(Movement.Broadcast.class, CLAMPED), CLAMPED))
          .ofTypeOf(Moments.X);

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
    Value x = match.get(Moments.X);
    Reduction.Reduce sum = (Reduction.Reduce) match.get(SUM).definition().op();
    int axis = x.type().rank() - 1;
    Dim terms = x.type().shape().dim(axis);
    double factor = match.has(FACTOR) ? number(match.get(FACTOR), graph) : 1;
    double least = match.has(LEAST) ? number(match.get(LEAST), graph) / factor : 0;
    if (!sum.axes().equals(List.of(axis))
        || !terms.isStatic()
        || terms.is(0)
        || !(factor > 0)
        || !(least >= 0)
        || least > LARGEST * Math.sqrt(terms.value())) {
      return Optional.empty();
    }
    double epsilon = least * least / terms.value();
    Value norm =
        graph.add(new Structured.Norm(Structured.NormKind.RMS, axis, epsilon, false, false), x);
    return Optional.of(NormFactors.times(norm, 1 / (factor * Math.sqrt(terms.value())), graph));
  }

  private static double number(Value value, GraphEditor graph) {
    return Parameters.uniform(value, graph).orElseThrow();
  }
}
