package io.partita.passes.graph.raise.norm;

import static io.partita.passes.rewrite.Pattern.add;
import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.binary;
import static io.partita.passes.rewrite.Pattern.commutative;
import static io.partita.passes.rewrite.Pattern.div;
import static io.partita.passes.rewrite.Pattern.either;
import static io.partita.passes.rewrite.Pattern.number;
import static io.partita.passes.rewrite.Pattern.square;
import static io.partita.passes.rewrite.Pattern.sub;
import static io.partita.passes.rewrite.Pattern.unary;
import static io.partita.passes.rewrite.Pattern.uniform;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** Patterns of means and deviations over the last dimensions, the parts of norms. */
final class Moments {
  static final Capture<Value> X = Capture.of("x");

  private static final Capture<Value> MEAN = Capture.of("mean");
  private static final Capture<Value> EPSILON = Capture.of("epsilon");

  private Moments() {}

  /**
   * Matches the mean of {@code operand} over some axes, which are kept with extent 1; also as JAX
   * writes it, a sum that is divided by the number of its terms.
   */
  static Pattern mean(Pattern operand) {
    Capture<Value> mean = MEAN;
    Pattern sum = reduced(ReductionKind.SUM, operand);
    Pattern reduce =
        either(
            reduced(ReductionKind.MEAN, operand),
            (value, graph, match) ->
                isQuotientByCount(value, graph)
                    ? sum.match(
                        graph.operand(graph.definition(value).orElseThrow(), 0), graph, match)
                    : Optional.empty());
    return (value, graph, match) ->
        reduce
            .match(value, graph, match)
            .flatMap(
                found ->
                    found.has(mean)
                        ? Optional.of(found)
                            .filter(same -> axes(same.get(mean), graph).equals(axes(value, graph)))
                        : Pattern.any(mean).match(value, graph, found));
  }

  private static Pattern reduced(ReductionKind kind, Pattern operand) {
    return Pattern.op(
        Reduction.Reduce.class, op -> op.reduction() == kind && op.keepDims(), operand);
  }

  private static boolean isQuotientByCount(Value value, GraphEditor graph) {
    Node quotient = graph.definition(value).orElse(null);
    if (quotient == null
        || !(quotient.op() instanceof Elementwise.Binary(BinaryFunction function))
        || function != BinaryFunction.DIV) {
      return false;
    }
    Node sum = graph.definition(graph.operand(quotient, 0)).orElse(null);
    if (sum == null || !(sum.op() instanceof Reduction.Reduce reduce)) {
      return false;
    }
    Shape shape = graph.operand(sum, 0).type().shape();
    Dim terms = new Shape(reduce.axes().stream().map(shape::dim).toList()).size();
    OptionalDouble divisor = Parameters.uniform(graph.operand(quotient, 1), graph);
    return terms.isStatic() && divisor.isPresent() && divisor.getAsDouble() == terms.value();
  }

  /**
   * Matches {@code mean((x - mean(x))²)}, and {@code mean(x²) - mean(x)²}, of which Flax takes the
   * maximum with 0.
   */
  static Pattern variance() {
    Pattern difference = sub(mean(square(any(X))), square(mean(any(X))));
    return either(
        mean(square(sub(any(X), mean(any(X))))),
        difference,
        commutative(BinaryFunction.MAX, number(0), difference));
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

  private static List<Integer> axes(Value mean, GraphEditor graph) {
    Node node = graph.definition(mean).orElseThrow();
    return node.op() instanceof Reduction.Reduce reduce
        ? reduce.axes()
        : axes(graph.operand(node, 0), graph);
  }

  /**
   * Returns the norm of the captured value; empty unless the means are over the last dimensions.
   */
  static Optional<Value> norm(Structured.NormKind kind, Match match, GraphEditor graph) {
    Value x = match.get(X);
    List<Integer> axes = axes(match.get(MEAN), graph);
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
