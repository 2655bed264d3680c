package io.partita.passes.graph.raise.linear;

import static io.partita.passes.rewrite.Pattern.any;
import static io.partita.passes.rewrite.Pattern.op;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Capture;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code linear(reshape(x)) -> reshape(linear(x))}, where the reshape flattens batch and sequence,
 * as exporters do around a linear.
 */
final class MoveReshapeAfterLinear implements RewriteRule {
  private static final Capture<Value> X = Capture.of("x");
  private static final Pattern RESHAPED = op(Movement.Reshape.class, any(X));

  @Override
  public Class<? extends Op> root() {
    return Structured.Linear.class;
  }

  @Override
  public Pattern pattern() {
    return (value, graph, match) ->
        RESHAPED.match(graph.operand(value.definition(), 0), graph, match);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Value x = match.get(X);
    Shape flat = graph.operand(node, 0).type().shape();
    Optional<Shape> apart = rowsApart(x.type().shape(), flat);
    if (apart.isEmpty()) {
      return Optional.empty();
    }
    List<Value> operands = new ArrayList<>(graph.operands(node));
    operands.set(0, Parameters.reshaped(x, apart.get(), graph));
    Value moved = graph.add(node.op(), operands);
    return Optional.of(graph.add(new Movement.Reshape(node.result().type().shape()), moved));
  }

  /**
   * Reshapes {@code [batch*seq, features]} to {@code [batch, seq, features]}, with batch and
   * sequence of x.
   */
  private static Optional<Shape> rowsApart(Shape x, Shape flat) {
    Dim features = flat.fromEnd(0);
    Dim product = Dim.ONE;
    int axis = x.rank();
    while (axis > 0 && !product.equals(features)) {
      axis--;
      product = product.times(x.dim(axis));
    }
    return flat.rank() == 2 && axis >= 2 && product.equals(features)
        ? Optional.of(x.range(0, axis).concat(Shape.of(features)))
        : Optional.empty();
  }
}
