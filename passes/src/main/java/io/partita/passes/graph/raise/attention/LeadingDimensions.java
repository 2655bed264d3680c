package io.partita.passes.graph.raise.attention;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import java.util.ArrayList;
import java.util.List;

/**
 * The leading dimensions of an attention, before the last two: batch, windows if any, and heads.
 * Exporters may merge any of them.
 *
 * @param queries batch and heads
 * @param keys batch and kv heads
 */
record LeadingDimensions(Shape queries, Shape keys) {
  /**
   * Returns the leading dimensions of a product of {@code [q..., seq, d]} and {@code [k..., d,
   * keys]}; null if they aren't batches and heads.
   *
   * @param seen batch and heads of the scores if known from their uses, else null
   */
  static LeadingDimensions of(Shape q, Shape k, Shape seen) {
    if (q.rank() != k.rank()) {
      return null;
    }
    int shared = 0;
    while (shared < q.rank() && q.dim(shared).equals(k.dim(shared))) {
      shared++;
    }
    if (shared == q.rank()) {
      return whole(q, seen);
    }
    Shape group = q.range(shared, q.rank());
    if (shared == 0 || !k.range(shared, k.rank()).size().is(1)) {
      return null;
    }
    int batch = Math.max(1, shared - 1);
    Dim kvHeads = k.range(batch, shared).size();
    Dim outer = q.range(0, batch).size();
    return new LeadingDimensions(
        Shape.of(outer, kvHeads.times(group.size())), Shape.of(outer, kvHeads));
  }

  private static LeadingDimensions whole(Shape q, Shape seen) {
    Shape leading =
        switch (q.rank()) {
          case 1 ->
              seen != null && seen.size().equals(q.dim(0)) ? seen : Shape.of(Dim.ONE, q.dim(0));
          case 2 -> q;
          default -> Shape.of(q.range(0, q.rank() - 1).size(), q.fromEnd(0));
        };
    return new LeadingDimensions(leading, leading);
  }

  /** Reshapes {@code [..., n, m]} to {@code [batch, heads, n, m]}. */
  static Value separate(Value value, Shape leading, GraphEditor graph) {
    Shape shape = value.type().shape();
    return Parameters.reshaped(
        value, leading.concat(shape.range(shape.rank() - 2, shape.rank())), graph);
  }

  /** Returns batch and heads of {@code [batch*heads, n, m]} if a reshape merged them; else null. */
  static Shape mergedIn(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node == null || !(node.op() instanceof Movement.Reshape)) {
      return null;
    }
    Shape from = graph.operand(node, 0).type().shape();
    Shape to = value.type().shape();
    boolean isJoined =
        from.rank() == 4
            && to.rank() >= 3
            && from.range(2, 4).equals(to.range(to.rank() - 2, to.rank()));
    return isJoined ? from.range(0, 2) : null;
  }

  /**
   * Regroups a mask of scores of shape {@code applied} for scores {@code [batch, heads, seq, keys]}
   * with as many elements; null if it has too many dimensions.
   */
  static Value regrouped(Value mask, Shape applied, Shape leading, GraphEditor graph) {
    Shape shape = mask.type().shape();
    int rank = applied.rank();
    Shape outer = applied.range(0, rank - 2);
    if (shape.rank() > rank) {
      return null;
    }
    Shape padded = shape;
    while (padded.rank() < rank) {
      padded = padded.insert(0, Dim.ONE);
    }
    Shape inner = padded.range(rank - 2, rank);
    Shape own = padded.range(0, rank - 2);
    if (own.size().is(1)) {
      Shape last = shape.range(Math.max(0, shape.rank() - 2), shape.rank());
      return Parameters.reshaped(mask, shape.rank() <= 4 ? shape : last, graph);
    }
    if (outer.equals(leading)) {
      return mask;
    }
    int cut = separation(outer, leading);
    Value full = mask;
    List<Dim> expanded = new ArrayList<>();
    List<Dim> to = new ArrayList<>();
    if (cut < 0) {
      expanded.addAll(outer.dims());
      to.addAll(leading.dims());
    } else {
      broadcast(own.range(0, cut), outer.range(0, cut), leading.dim(0), expanded, to);
      broadcast(own.range(cut, rank - 2), outer.range(cut, rank - 2), leading.dim(1), expanded, to);
    }
    Shape target = new Shape(expanded).concat(inner);
    full = Parameters.reshaped(full, padded, graph);
    full = target.equals(padded) ? full : graph.add(new Movement.Broadcast(target), full);
    return Parameters.reshaped(full, new Shape(to).concat(inner), graph);
  }

  /**
   * Merges dimensions into one: of extent 1 if the mask has extent 1 in all of them, else their
   * product.
   */
  private static void broadcast(
      Shape own, Shape outer, Dim joined, List<Dim> expanded, List<Dim> to) {
    boolean isOne = own.size().is(1);
    expanded.addAll(isOne ? own.dims() : outer.dims());
    to.add(isOne ? Dim.ONE : joined);
  }

  /**
   * Returns the number of outer dimensions that form the batch; -1 if batch and heads are merged.
   */
  private static int separation(Shape outer, Shape leading) {
    for (int cut = outer.rank() - 1; cut >= 0; cut--) {
      if (outer.range(0, cut).size().equals(leading.dim(0))
          && outer.range(cut, outer.rank()).size().equals(leading.dim(1))) {
        return cut;
      }
    }
    return -1;
  }
}
