package io.partita.passes.graph.raise.movement;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.List;
import java.util.Optional;

/**
 * {@code scatter_elements(x, i, u) -> cache_update(x, u, i)}, where all elements of u go to one
 * place along an axis, or to one for each element of a batch: a run is copied, in place of elements
 * with an index each. A negative index counts from the end.
 */
final class UpdateInsteadOfScatter implements RewriteRule {
  private static final Pattern PATTERN =
      Pattern.result(
          Movement.ScatterElements.class,
          scatter -> scatter.reduction() == Combine.REPLACE && scatter.axis() > 0);

  @Override
  public Class<? extends Op> root() {
    return Movement.ScatterElements.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    int axis = ((Movement.ScatterElements) node.op()).axis();
    Value data = graph.operand(node, 0);
    Value updates = graph.operand(node, 2);
    Shape shape = data.type().shape();
    Dim capacity = shape.dim(axis);
    boolean isRun = updates.type().shape().equals(shape.with(axis, Dim.ONE));
    if (!isRun || !capacity.isStatic() || capacity.is(0)) {
      return Optional.empty();
    }
    Value place = place(graph.operand(node, 1), graph);
    Dim places = place.type().shape().size();
    if (graph.constant(place).isPresent() || !places.is(1) && !isOfBatch(place, shape)) {
      return Optional.empty();
    }
    Value wide =
        place.type().element() == ElementType.I64
            ? place
            : graph.add(new Elementwise.Cast(ElementType.I64), place);
    Value flat = reshape(wide, Shape.of(places), graph);
    Value start = fromStart(flat, capacity.value(), graph);
    Value each =
        places.equals(shape.dim(0))
            ? start
            : graph.add(new Movement.Broadcast(Shape.of(shape.dim(0))), start);
    return Optional.of(
        graph.add(new Structured.CacheUpdate(axis, false), List.of(data, updates, each)));
  }

  /** Returns the value of which the indices are copies. */
  private static Value place(Value indices, GraphEditor graph) {
    Value at = indices;
    Node node = graph.definition(at).orElse(null);
    while (node != null
        && (node.op() instanceof Movement.Broadcast
            || node.op() instanceof Movement.Reshape && at.type().shape().size().is(1))) {
      at = graph.operand(node, 0);
      node = graph.definition(at).orElse(null);
    }
    return at;
  }

  /** Whether the places have as many dimensions as the data, of which only the first isn't 1. */
  private static boolean isOfBatch(Value place, Shape data) {
    Shape shape = place.type().shape();
    return shape.rank() == data.rank()
        && shape.dim(0).equals(data.dim(0))
        && shape.range(1, shape.rank()).size().is(1);
  }

  private static Value fromStart(Value index, long capacity, GraphEditor graph) {
    Value zero = number(0, graph);
    Value isNegative = graph.add(new Elementwise.Binary(BinaryFunction.LESS), index, zero);
    Value raised =
        graph.add(new Elementwise.Binary(BinaryFunction.ADD), index, number(capacity, graph));
    return graph.add(new Elementwise.Select(), isNegative, raised, index);
  }

  private static Value number(long number, GraphEditor graph) {
    return graph.constant(Tensor.ofLongs(TensorType.of(ElementType.I64), new long[] {number}));
  }

  private static Value reshape(Value value, Shape to, GraphEditor graph) {
    return value.type().shape().equals(to) ? value : graph.add(new Movement.Reshape(to), value);
  }
}
