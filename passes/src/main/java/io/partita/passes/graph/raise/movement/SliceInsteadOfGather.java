package io.partita.passes.graph.raise.movement;

import static io.partita.passes.rewrite.Pattern.constant;
import static io.partita.passes.rewrite.Pattern.operand;
import static io.partita.passes.rewrite.Pattern.result;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code gather(x, constant index) -> reshape(slice(x))}, also for gathers by tuples of one index.
 */
final class SliceInsteadOfGather implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return result(Movement.class, movement -> axis(movement) >= 0)
        .and(operand(1, constant(index -> index.size() == 1)));
  }

  private static int axis(Op op) {
    if (op instanceof Movement.Gather(int axis)) {
      return axis;
    }
    return op instanceof Movement.GatherNd(int batchDims) && batchDims == 0 ? 0 : -1;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    int axis = axis(node.op());
    Value x = graph.operand(node, 0);
    Tensor index = graph.constant(graph.operand(node, 1)).orElseThrow();
    Shape shape = x.type().shape();
    if (graph.constant(x).isPresent() || (index.getLong(0) < 0 && !shape.dim(axis).isStatic())) {
      return Optional.empty();
    }
    long start = index.getLong(0) < 0 ? index.getLong(0) + shape.extent(axis) : index.getLong(0);
    boolean isBeyond = shape.dim(axis).isStatic() && start >= shape.extent(axis);
    if (start < 0 || isBeyond) {
      return Optional.empty();
    }
    List<Dim> starts = new ArrayList<>(Collections.nCopies(shape.rank(), Dim.ZERO));
    starts.set(axis, Dim.of(start));
    Movement.Slice slice =
        new Movement.Slice(
            starts, shape.with(axis, Dim.ONE).dims(), Collections.nCopies(shape.rank(), 1L));
    Value cut = graph.add(slice, x);
    return Optional.of(graph.add(new Movement.Reshape(node.result().type().shape()), cut));
  }
}
