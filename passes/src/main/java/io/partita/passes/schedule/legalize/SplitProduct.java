package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code matmul(x, y) -> concat(linear(x[0], y[0]), linear(x[1], y[1]), …)}, for kernels on pages,
 * which multiply one matrix by another. Outer products, such as angles of positions, remain.
 */
final class SplitProduct implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Contraction.MatMul.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Contraction.MatMul.class, product -> product.result().isFloat())
        .and(Pattern.operand(0, Pattern.any().where(x -> x.type().shape().fromEnd(0).value() > 1)));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Terms terms = new Terms(graph);
    Shape result = node.result().type().shape();
    long batches = result.range(0, result.rank() - 2).elements();
    Optional<Value> left = matrices(terms, graph.operand(node, 0), batches);
    Optional<Value> right = matrices(terms, graph.operand(node, 1), batches);
    if (batches == 0 || left.isEmpty() || right.isEmpty()) {
      return Optional.empty();
    }
    List<Value> products = new ArrayList<>();
    for (long batch = 0; batch < batches; batch++) {
      Value x = matrix(terms, left.get(), batch);
      Value y = matrix(terms, right.get(), batch);
      products.add(graph.add(new Structured.Linear(false, false), x, y));
    }
    return Optional.of(terms.reshaped(terms.concat(0, products), result));
  }

  /** All batches as one dimension; empty if elements count for several, but not for all. */
  private static Optional<Value> matrices(Terms terms, Value value, long batches) {
    Shape shape = value.type().shape();
    long own = shape.range(0, shape.rank() - 2).elements();
    return own == 1 || own == batches
        ? Optional.of(
            terms.reshaped(
                value, Shape.of(own, shape.fromEnd(1).value(), shape.fromEnd(0).value())))
        : Optional.empty();
  }

  private static Value matrix(Terms terms, Value matrices, long batch) {
    Shape shape = matrices.type().shape();
    Value one = shape.extent(0) == 1 ? matrices : terms.slice(matrices, 0, batch, 1);
    return terms.reshaped(one, shape.range(1, 3));
  }
}
