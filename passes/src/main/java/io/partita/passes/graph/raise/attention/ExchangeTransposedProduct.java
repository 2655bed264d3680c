package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code transpose(a b) -> transpose(bᵀ aᵀ)}, where the columns of a product of two activations
 * come before its rows in the result: Keras multiplies keys by queries, and then exchanges them.
 */
final class ExchangeTransposedProduct implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.Transpose.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(
        0, Pattern.result(Contraction.MatMul.class, product -> product.result().isFloat()).once());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Node product = graph.definition(graph.operand(node, 0)).orElseThrow();
    Value left = graph.operand(product, 0);
    Value right = graph.operand(product, 1);
    List<Integer> permutation = ((Movement.Transpose) node.op()).permutation();
    int rank = permutation.size();
    boolean isExchanged = permutation.indexOf(rank - 1) < permutation.indexOf(rank - 2);
    if (!isExchanged
        || Parameters.isParameter(left, graph)
        || Parameters.isParameter(right, graph)) {
      return Optional.empty();
    }
    Value exchanged = graph.add(product.op(), transposed(right, graph), transposed(left, graph));
    List<Integer> rest =
        permutation.stream().map(axis -> axis < rank - 2 ? axis : 2 * rank - 3 - axis).toList();
    return Optional.of(graph.add(new Movement.Transpose(rest), exchanged));
  }

  private static Value transposed(Value matrices, GraphEditor graph) {
    int rank = matrices.type().rank();
    List<Integer> permutation = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
    Collections.swap(permutation, rank - 2, rank - 1);
    return graph.add(new Movement.Transpose(permutation), matrices);
  }
}
