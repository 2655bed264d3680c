package io.partita.passes.graph.raise.activation;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * {@code x/2 (1 + erf(x/√2)) -> gelu(x)} and {@code x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))) ->
 * gelu_tanh(x)}, in any order and grouping of the factors. Both functions are odd, so {@code x/2 (1
 * - erf(-x/√2))}, which JAX writes for {@code x/2 erfc(-x/√2)}, is the same.
 */
final class RaiseGelu implements RewriteRule {
  private static final int MAX_STEPS = 16;
  private static final double SLOPE = Math.sqrt(2 / Math.PI);
  private static final double CUBIC = 0.044715;

  private static final Set<BinaryFunction> ARITHMETIC =
      Set.of(
          BinaryFunction.ADD,
          BinaryFunction.SUB,
          BinaryFunction.MUL,
          BinaryFunction.DIV,
          BinaryFunction.POW);

  private static final List<Form> FORMS = List.of(Form.of(1), Form.of(-1));

  /**
   * Polynomials of x and of s, which is the erf or the tanh: the arguments of both functions, and
   * the result.
   */
  private record Form(Polynomial ofErf, Polynomial ofTanh, Polynomial gelu) {
    /** The form of {@code s = erf(sign x/√2)}, and of the tanh: {@code x/2 + sign x s/2}. */
    static Form of(int sign) {
      Polynomial ofTanh =
          new Polynomial(
              new double[][] {
                {0, 0, 0, 0}, {sign * SLOPE, 0, 0, 0}, {0, 0, 0, 0}, {sign * SLOPE * CUBIC, 0, 0, 0}
              });
      Polynomial gelu =
          new Polynomial(
              new double[][] {{0, 0, 0, 0}, {0.5, sign * 0.5, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}});
      return new Form(Polynomial.term(sign * Math.sqrt(0.5), 1, 0), ofTanh, gelu);
    }

    boolean matches(Value result, Value argument, Value x, Value s, GraphEditor graph) {
      UnaryFunction function = sigmoid(s, graph).orElseThrow();
      return is(argument, x, s, function == UnaryFunction.ERF ? ofErf : ofTanh, graph)
          && is(result, x, s, gelu, graph);
    }
  }

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Binary.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
            Elementwise.Binary.class, binary -> ARITHMETIC.contains(binary.function()))
        .where(value -> value.type().element().isFloat());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    for (Value s : within(node.result(), graph)) {
      UnaryFunction function = sigmoid(s, graph).orElse(null);
      if (function == null) {
        continue;
      }
      Value argument = graph.operand(graph.definition(s).orElseThrow(), 0);
      for (Value x : within(argument, graph)) {
        if (FORMS.stream().anyMatch(form -> form.matches(node.result(), argument, x, s, graph))) {
          UnaryFunction gelu =
              function == UnaryFunction.ERF ? UnaryFunction.GELU : UnaryFunction.GELU_TANH;
          return Optional.of(graph.add(new Elementwise.Unary(gelu), x));
        }
      }
    }
    return Optional.empty();
  }

  private static boolean is(Value value, Value x, Value s, Polynomial expected, GraphEditor graph) {
    Polynomial found = Polynomial.of(value, x, s, graph);
    return found != null && found.isNear(expected, x.type().element());
  }

  private static Optional<UnaryFunction> sigmoid(Value value, GraphEditor graph) {
    return graph
        .definition(value)
        .map(Node::op)
        .filter(Elementwise.Unary.class::isInstance)
        .map(op -> ((Elementwise.Unary) op).function())
        .filter(function -> function == UnaryFunction.ERF || function == UnaryFunction.TANH);
  }

  /** Returns the value and its arithmetic predecessors, nearest first. */
  private static List<Value> within(Value value, GraphEditor graph) {
    List<Value> found = new ArrayList<>();
    Deque<Value> work = new ArrayDeque<>(List.of(graph.resolve(value)));
    while (!work.isEmpty() && found.size() < MAX_STEPS) {
      Value at = work.removeFirst();
      if (found.contains(at) || graph.constant(at).isPresent()) {
        continue;
      }
      found.add(at);
      Node node = graph.definition(at).orElse(null);
      if (node != null && isArithmetic(node.op())) {
        work.addAll(graph.operands(node));
      }
    }
    return found;
  }

  private static boolean isArithmetic(Op op) {
    return op instanceof Elementwise.Binary(BinaryFunction function)
            && ARITHMETIC.contains(function)
        || op instanceof Elementwise.Unary(UnaryFunction unary) && unary == UnaryFunction.NEG;
  }
}
