package io.partita.passes.schedule.legalize;

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
import java.util.Optional;

/**
 * Activations as products with a sigmoid, for kernels that have no others: {@code gelu_tanh(x) -> x
 * sigmoid(2 √(2/π) (x + 0.044715 x³))}, since {@code 1 + tanh(y) = 2 sigmoid(2 y)}, and {@code
 * quick_gelu(x) -> x sigmoid(1.702 x)}.
 */
final class ExpandActivation implements RewriteRule {
  private static final double FACTOR = 2 * Math.sqrt(2 / Math.PI);

  @Override
  public Class<? extends Op> root() {
    return Elementwise.Unary.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Elementwise.Unary.class,
        unary ->
            unary.function() == UnaryFunction.GELU_TANH
                || unary.function() == UnaryFunction.QUICK_GELU);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Terms terms = new Terms(graph);
    Value x = graph.operand(node, 0);
    boolean isQuick = node.op().equals(new Elementwise.Unary(UnaryFunction.QUICK_GELU));
    Value inner = isQuick ? product(terms, x, terms.number(x, 1.702)) : cubic(terms, x);
    return Optional.of(product(terms, terms.unary(UnaryFunction.SIGMOID, inner), x));
  }

  /** {@code ((b x²) + a) x}, in which each value but x has one reader. */
  private static Value cubic(Terms terms, Value x) {
    Value square = product(terms, product(terms, x, x), terms.number(x, 0.044715 * FACTOR));
    Value sum = terms.binary(BinaryFunction.ADD, square, terms.number(x, FACTOR));
    return product(terms, sum, x);
  }

  private static Value product(Terms terms, Value left, Value right) {
    return terms.binary(BinaryFunction.MUL, left, right);
  }
}
