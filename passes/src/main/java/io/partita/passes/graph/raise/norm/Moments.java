package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.binary;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.unary;
import static io.partita.passes.rewrite.Pattern.uniform;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Patterns of means and deviations over the last dimensions, the parts of norms. */
final class Moments {
  static final Capture<Value> X = Capture.of("x");

  private static final Capture<Value> MEAN = Capture.of("mean");
  private static final Capture<Value> EPSILON = Capture.of("epsilon");

  private Moments() {}

  /** Matches the mean of {@code operand} over some axes, which are kept with extent 1. */
  static Pattern mean(Pattern operand) {
    Capture<Value> mean = MEAN;
    Pattern reduce =
        Pattern.op(
            Reduction.Reduce.class,
            op -> op.reduction() == ReductionKind.MEAN && op.keepDims(),
            operand);
    return (value, graph, match) ->
        reduce
            .match(value, graph, match)
            .flatMap(
                found ->
                    found.has(mean)
                        ? Optional.of(found)
                            .filter(same -> axes(same.get(mean)).equals(axes(value)))
                        : Pattern.any(mean).match(value, graph, found));
  }

  /** Matches {@code √(variance + ε)}. */
  static Pattern deviation(Pattern variance) {
    Pattern shifted = add(variance, uniform(EPSILON));
    return either(
        unary(UnaryFunction.SQRT, shifted), binary(BinaryFunction.POW, shifted, number(0.5)));
  }

  /** Matches {@code 1 / √(variance + ε)}. */
  static Pattern inverseDeviation(Pattern variance) {
    return either(
        unary(UnaryFunction.RECIPROCAL, deviation(variance)),
        div(number(1), deviation(variance)),
        binary(BinaryFunction.POW, add(variance, uniform(EPSILON)), number(-0.5)));
  }

  private static List<Integer> axes(Value mean) {
    return ((Reduction.Reduce) mean.definition().op()).axes();
  }

  /**
   * Returns the norm of the captured value; empty unless the means are over the last dimensions.
   */
  static Optional<Value> norm(Structured.NormKind kind, Match match, GraphEditor graph) {
    Value x = match.get(X);
    List<Integer> axes = axes(match.get(MEAN));
    int rank = x.type().rank();
    if (axes.isEmpty()
        || !axes.equals(IntStream.range(rank - axes.size(), rank).boxed().toList())) {
      return Optional.empty();
    }
    double epsilon = graph.constant(match.get(EPSILON)).orElseThrow().getDouble(0);
    return Optional.of(
        graph.add(new Structured.Norm(kind, axes.getFirst(), epsilon, false, false), x));
  }
}
