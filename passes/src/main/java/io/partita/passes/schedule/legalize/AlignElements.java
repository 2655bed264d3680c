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
import java.util.List;
import java.util.Optional;

/**
 * Gives the indices of gathers and scatters of elements the extents of the data, except for one
 * axis: {@code gather(x, i) -> gather(x[:n], i)}, and {@code scatter(x, i, u) ->
 * concat(scatter(x[:n], i, u), x[n:])} if the indices are shorter.
 */
final class AlignElements implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(
        Movement.class,
        op -> op instanceof Movement.GatherElements || op instanceof Movement.ScatterElements);
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    return switch (node.op()) {
      case Movement.GatherElements(int axis) -> aligned(node, axis, graph);
      case Movement.ScatterElements scatter -> aligned(node, scatter.axis(), graph);
      case Op other -> Optional.empty();
    };
  }

  private static Optional<Value> aligned(Node node, int axis, GraphEditor graph) {
    Terms terms = new Terms(graph);
    List<Value> operands = graph.operands(node);
    Value data = operands.get(0);
    Value indices = operands.get(1);
    boolean isScatter = operands.size() > 2;
    Shape extents = indices.type().shape();
    if (extents.elements() == 0) {
      return isScatter ? Optional.of(data) : Optional.empty();
    }
    for (int other = 0; other < extents.rank(); other++) {
      long extent = extents.extent(other);
      long whole = data.type().shape().extent(other);
      if (other == axis || extent == whole) {
        continue;
      }
      if (extent > whole) {
        return Optional.empty();
      }
      Value head = terms.slice(data, other, 0, extent);
      if (!isScatter) {
        return Optional.of(graph.add(node.op(), head, indices));
      }
      Value scattered = graph.add(node.op(), head, indices, operands.get(2));
      Value tail = terms.slice(data, other, extent, whole - extent);
      return Optional.of(terms.concat(other, List.of(scattered, tail)));
    }
    if (indices.type().element() == ElementType.I64) {
      return Optional.empty();
    }
    Value wide = terms.cast(indices, ElementType.I64);
    return Optional.of(
        isScatter
            ? graph.add(node.op(), data, wide, operands.get(2))
            : graph.add(node.op(), data, wide));
  }
}
