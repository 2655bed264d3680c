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
 * gelu_tanh(x)}, in any order and grouping of the factors.
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

  /** The polynomial {@code x/2 + x s/2}, where s is the erf or the tanh. */
  private static final Polynomial GELU =
      new Polynomial(new double[][] {{0, 0, 0, 0}, {0.5, 0.5, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}});

  private static final Polynomial OF_ERF = Polynomial.term(Math.sqrt(0.5), 1, 0);
  private static final Polynomial OF_TANH =
      new Polynomial(
          new double[][] {{0, 0, 0, 0}, {SLOPE, 0, 0, 0}, {0, 0, 0, 0}, {SLOPE * CUBIC, 0, 0, 0}});

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
      Polynomial expected = function == UnaryFunction.ERF ? OF_ERF : OF_TANH;
      for (Value x : within(argument, graph)) {
        if (is(argument, x, s, expected, graph) && is(node.result(), x, s, GELU, graph)) {
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
      if (node != null
          && node.op() instanceof Elementwise.Binary(BinaryFunction function)
          && ARITHMETIC.contains(function)) {
        work.addAll(graph.operands(node));
      }
    }
    return found;
  }
}
