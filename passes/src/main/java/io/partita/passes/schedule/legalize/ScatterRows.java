package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.Optional;

/**
 * {@code scatter_nd(data, indices, updates)} of rows of a matrix, whose numbers are {@code Σ index
 * · stride}. The pattern matches any scatter; one that already has this form is not rewritten.
 */
final class ScatterRows implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.ScatterNd.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any();
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Terms terms = new Terms(graph);
    Value data = graph.operand(node, 0);
    Value indices = graph.operand(node, 1);
    Value updates = graph.operand(node, 2);
    Shape shape = data.type().shape();
    int tuple = (int) indices.type().shape().fromEnd(0).value();
    long count = indices.type().shape().range(0, indices.type().rank() - 1).elements();
    if (updates.type().shape().elements() == 0) {
      return Optional.of(data);
    }
    boolean isMatrix = tuple == 1 && shape.rank() == 2 && indices.type().rank() == 2;
    if (tuple == 0 || isMatrix && indices.type().element() == ElementType.I64) {
      return Optional.empty();
    }
    Value rows = tuple == 1 ? indices : GatherRows.numbers(indices, shape, 0, graph);
    long inner = shape.range(tuple, shape.rank()).elements();
    Shape matrix = Shape.of(shape.range(0, tuple).elements(), inner);
    Value scattered =
        graph.add(
            node.op(),
            terms.reshaped(data, matrix),
            terms.cast(terms.reshaped(rows, Shape.of(count, 1)), ElementType.I64),
            terms.reshaped(updates, Shape.of(count, inner)));
    return Optional.of(terms.reshaped(scattered, shape));
  }
}
