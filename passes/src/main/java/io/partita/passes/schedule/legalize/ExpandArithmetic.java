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
 * Arithmetic of floats by functions that kernels on pages have: {@code neg(x) -> x (-1)}, {@code x
 * / c -> x (1/c)}, {@code pow(x, 2) -> x x}, {@code pow(x, 3) -> x x x} and {@code pow(x, 1/2) ->
 * sqrt(x)}. Products of padding are zeros, also with padding.
 */
final class ExpandArithmetic implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Elementwise.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Elementwise.class, op -> true)
        .and(Pattern.operand(0, Pattern.any().where(x -> x.type().element().isFloat())));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Terms terms = new Terms(graph);
    Value x = graph.operand(node, 0);
    return switch (node.op()) {
      case Elementwise.Unary(UnaryFunction function) when function == UnaryFunction.NEG ->
          Optional.of(product(terms, x, terms.number(x, -1)));
      case Elementwise.Binary(BinaryFunction function) when node.result().type().equals(x.type()) ->
          graph
              .constant(graph.operand(node, 1))
              .filter(data -> data.size() == 1)
              .flatMap(data -> binary(terms, function, x, data.getDouble(0)));
      default -> Optional.empty();
    };
  }

  private static Optional<Value> binary(
      Terms terms, BinaryFunction function, Value x, double number) {
    if (function == BinaryFunction.DIV && number != 0) {
      return Optional.of(product(terms, x, terms.number(x, 1 / number)));
    }
    if (function != BinaryFunction.POW) {
      return Optional.empty();
    }
    if (number == 0.5) {
      return Optional.of(terms.unary(UnaryFunction.SQRT, x));
    }
    if (number == 2) {
      return Optional.of(product(terms, x, x));
    }
    return number == 3 ? Optional.of(product(terms, product(terms, x, x), x)) : Optional.empty();
  }

  private static Value product(Terms terms, Value left, Value right) {
    return terms.binary(BinaryFunction.MUL, left, right);
  }
}
