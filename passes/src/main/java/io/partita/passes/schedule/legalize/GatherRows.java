package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * {@code gather_nd(data, indices) -> gather(rows of data, Σ index · stride)}. The tuples, and so
 * their sums, are mostly constants.
 */
final class GatherRows implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Movement.GatherNd.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(
        1, Pattern.any().where(indices -> !indices.type().shape().fromEnd(0).is(0)));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    int batch = ((Movement.GatherNd) node.op()).batchDims();
    Value data = graph.operand(node, 0);
    Value indices = graph.operand(node, 1);
    int tuple = (int) indices.type().shape().fromEnd(0).value();
    Shape shape = data.type().shape();
    Shape rowsOf = shape.range(0, batch + tuple);
    if (rowsOf.elements() == 0 || indices.type().shape().elements() == 0) {
      return Optional.empty();
    }
    Value row = numbers(indices, shape, batch, graph);
    List<Dim> rows = new ArrayList<>(List.of(Dim.of(rowsOf.elements())));
    rows.addAll(shape.range(batch + tuple, shape.rank()).dims());
    Value table = graph.add(new Movement.Reshape(new Shape(rows)), data);
    return Optional.of(graph.add(new Movement.Gather(0), table, row));
  }

  /**
   * Returns {@code Σ index · stride}: the row of data that each tuple selects.
   *
   * @param shape the shape of the data
   * @param batch the number of common batch dimensions
   */
  static Value numbers(Value indices, Shape shape, int batch, GraphEditor graph) {
    int tuple = (int) indices.type().shape().fromEnd(0).value();
    Shape rowsOf = shape.range(0, batch + tuple);
    Value row = null;
    for (int place = 0; place < tuple; place++) {
      long extent = shape.extent(batch + place);
      long stride = rowsOf.range(batch + place + 1, batch + tuple).elements();
      Value own = fromStart(index(indices, place, graph), extent, graph);
      Value term = binary(BinaryFunction.MUL, own, number(own, stride, graph), graph);
      row = row == null ? term : binary(BinaryFunction.ADD, row, term, graph);
    }
    return batch == 0
        ? row
        : binary(BinaryFunction.ADD, row, starts(row.type(), batch, rowsOf, graph), graph);
  }

  /** Returns one element of each tuple. */
  private static Value index(Value indices, int place, GraphEditor graph) {
    Shape shape = indices.type().shape();
    int last = shape.rank() - 1;
    List<Dim> starts = new ArrayList<>(Collections.nCopies(last, Dim.of(0)));
    starts.add(Dim.of(place));
    List<Dim> sizes = new ArrayList<>(shape.range(0, last).dims());
    sizes.add(Dim.ONE);
    List<Long> steps = Collections.nCopies(shape.rank(), 1L);
    Value slice = graph.add(new Movement.Slice(starts, sizes, steps), indices);
    return graph.add(new Movement.Reshape(shape.range(0, last)), slice);
  }

  /** Normalises negative indices, which count from the end. */
  private static Value fromStart(Value index, long extent, GraphEditor graph) {
    Value isBelow = binary(BinaryFunction.LESS, index, number(index, 0, graph), graph);
    Value above = binary(BinaryFunction.ADD, index, number(index, extent, graph), graph);
    return graph.add(new Elementwise.Select(), isBelow, above, index);
  }

  /** Returns the first row of each batch. */
  private static Value starts(TensorType type, int batch, Shape rowsOf, GraphEditor graph) {
    long batches = rowsOf.range(0, batch).elements();
    long each = rowsOf.elements() / batches;
    long[] starts = new long[(int) batches];
    for (int i = 0; i < starts.length; i++) {
      starts[i] = i * each;
    }
    List<Dim> dims = new ArrayList<>(type.shape().range(0, batch).dims());
    dims.addAll(Collections.nCopies(type.rank() - batch, Dim.ONE));
    return graph.constant(Tensor.ofLongs(new TensorType(type.element(), new Shape(dims)), starts));
  }

  private static Value number(Value like, long value, GraphEditor graph) {
    ElementType element = like.type().element();
    return graph.constant(Tensor.filled(TensorType.scalar(element), value));
  }

  private static Value binary(BinaryFunction function, Value left, Value right, GraphEditor graph) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }
}
