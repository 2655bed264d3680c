package io.partita.passes.graph.raise.movement;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code scatter_nd(transpose(x), i, u) -> transpose(scatter_elements(x, i, transpose(u)))}, where
 * the transpose moves the axis of the indices to the front: PyTorch's exporter writes index_copy
 * and index_put so. The transpose then meets the one that moves the axis back.
 */
final class MoveTransposeAfterScatter implements RewriteRule {
  private static final Pattern PATTERN =
      Pattern.result(Movement.ScatterNd.class, op -> true)
          .and(Pattern.operand(0, Pattern.result(Movement.class, CanonicalizeAxes::isStep)));

  @Override
  public Class<? extends Op> root() {
    return Movement.ScatterNd.class;
  }

  @Override
  public Pattern pattern() {
    return PATTERN;
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Shape indices = graph.operand(node, 1).type().shape();
    Value data = graph.operand(node, 0);
    Transposed transposed = transposed(data, graph);
    if (transposed == null || !indices.fromEnd(0).is(1)) {
      return Optional.empty();
    }
    Dim count = indices.size();
    Shape written = data.type().shape().with(0, count);
    Value updates = transposed.back(graph.operand(node, 2), written, count, graph);
    List<Dim> places = new ArrayList<>(Collections.nCopies(transposed.base().rank(), Dim.ONE));
    places.set(transposed.baseAxis(), count);
    Value at = reshape(graph.operand(node, 1), new Shape(places), graph);
    Value everywhere =
        at.type().shape().equals(updates.type().shape())
            ? at
            : graph.add(new Movement.Broadcast(updates.type().shape()), at);
    Movement.ScatterNd scatter = (Movement.ScatterNd) node.op();
    Value scattered =
        graph.add(
            new Movement.ScatterElements(transposed.baseAxis(), scatter.reduction()),
            transposed.value(),
            everywhere,
            updates);
    return Optional.of(transposed.forth(scattered, data.type().shape(), graph));
  }

  private static Value reshape(Value value, Shape to, GraphEditor graph) {
    return value.type().shape().equals(to) ? value : graph.add(new Movement.Reshape(to), value);
  }

  /**
   * A reshape, a transpose and a reshape that move one axis to the front.
   *
   * @param value the value before them
   * @param split its shape after the first reshape
   * @param baseAxis the moved axis in the value, and {@code splitAxis} in its split form
   */
  private record Transposed(
      Value value, Shape split, List<Integer> permutation, int baseAxis, int splitAxis) {
    Shape base() {
      return value.type().shape();
    }

    Value forth(Value moved, Shape to, GraphEditor graph) {
      Value cut = reshape(moved, split, graph);
      return reshape(graph.add(new Movement.Transpose(permutation), cut), to, graph);
    }

    /** Undoes all three for a value with another extent of the axis. */
    Value back(Value moved, Shape from, Dim extent, GraphEditor graph) {
      Shape cut = split.with(splitAxis, extent);
      Shape permuted = new Shape(permutation.stream().map(cut::dim).toList());
      List<Integer> inverse =
          IntStream.range(0, permutation.size()).map(permutation::indexOf).boxed().toList();
      Value flat = reshape(reshape(moved, from, graph), permuted, graph);
      Value transposed = graph.add(new Movement.Transpose(inverse), flat);
      return reshape(transposed, base().with(baseAxis, extent), graph);
    }
  }

  /** Returns null unless the data is a transpose whose first axis is a whole axis before it. */
  private static Transposed transposed(Value data, GraphEditor graph) {
    Value permuted = beforeReshape(data, graph);
    Node node = graph.definition(permuted).orElse(null);
    if (node == null || !(node.op() instanceof Movement.Transpose(List<Integer> permutation))) {
      return null;
    }
    Value cut = graph.operand(node, 0);
    Value base = beforeReshape(cut, graph);
    Dim extent = data.type().shape().dim(0);
    int front = axis(permuted.type().shape(), Dim.ONE, extent);
    if (front < 0) {
      return null;
    }
    int splitAxis = permutation.get(front);
    Shape split = cut.type().shape();
    int baseAxis = axis(base.type().shape(), split.range(0, splitAxis).size(), extent);
    return baseAxis < 0 ? null : new Transposed(base, split, permutation, baseAxis, splitAxis);
  }

  private static Value beforeReshape(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    return node != null && node.op() instanceof Movement.Reshape ? graph.operand(node, 0) : value;
  }

  /** Returns the axis of this extent after as many elements, or a negative number. */
  private static int axis(Shape shape, Dim before, Dim extent) {
    if (extent.is(1) || shape.dims().stream().anyMatch(dim -> dim.is(0))) {
      return -1;
    }
    return IntStream.range(0, shape.rank())
        .filter(i -> shape.dim(i).equals(extent) && shape.range(0, i).size().equals(before))
        .findFirst()
        .orElse(-1);
  }
}
