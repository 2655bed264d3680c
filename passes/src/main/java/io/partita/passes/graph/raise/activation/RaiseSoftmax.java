package io.partita.passes.graph.raise.activation;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.mul;
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
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code e / Σ e -> softmax(x)}, where {@code e = exp(x - c)} and {@code c} is one number for each
 * sum: the maximum of JAX, or 0 in its place where that is infinite. Any number gives the same
 * quotient unless the exponentials overflow. Without one, {@code e = exp(x)}.
 */
final class RaiseSoftmax implements RewriteRule {
  private static final Capture<Value> EXPONENT = Capture.of("exponent");
  private static final Capture<Value> POWERS = Capture.of("powers");
  private static final Capture<Value> SUM = Capture.of("sum");
  private static final Pattern EXPONENTIALS = unary(UnaryFunction.EXP, any(EXPONENT)).as(POWERS);
  private static final Pattern SUM_OF_ROW =
      Pattern.op(
              Reduction.Reduce.class,
              op -> op.reduction() == ReductionKind.SUM && op.keepDims() && op.axes().size() == 1,
              any(POWERS))
          .as(SUM);
  private static final Pattern PATTERN =
      either(
          div(EXPONENTIALS, SUM_OF_ROW),
          mul(EXPONENTIALS, unary(UnaryFunction.RECIPROCAL, SUM_OF_ROW)));

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
    Node sum = graph.definition(match.get(SUM)).orElseThrow();
    int axis = ((Reduction.Reduce) sum.op()).axes().getFirst();
    Value x = withoutShift(match.get(EXPONENT), axis, graph);
    return Optional.of(graph.add(new Reduction.Softmax(axis, false), x));
  }

  /** Returns what a number that is the same along the axis is subtracted from. */
  private static Value withoutShift(Value exponent, int axis, GraphEditor graph) {
    Node difference = graph.definition(exponent).orElse(null);
    if (difference == null
        || !(difference.op() instanceof Elementwise.Binary(BinaryFunction function))
        || function != BinaryFunction.SUB) {
      return exponent;
    }
    Value x = graph.operand(difference, 0);
    Shape shift = graph.operand(difference, 1).type().shape();
    int shiftAxis = axis - (exponent.type().rank() - shift.rank());
    boolean isUniform = shiftAxis < 0 || shift.dim(shiftAxis).equals(Dim.ONE);
    return isUniform && x.type().equals(exponent.type()) ? x : exponent;
  }
}
