package io.partita.passes.graph.state;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Recognises a value of the same type at all positions by its value at each. */
final class ValueSweep {
  private static final long MAX_TABLE = 1 << 22;

  private Tensor first;
  private boolean constant = true;
  private boolean linear;
  private List<Tensor> table = new ArrayList<>();

  void accept(long position, Tensor value) {
    if (first == null) {
      first = value;
      linear = value.element().isInteger();
    }
    constant = constant && value.equals(first);
    linear = linear && isLinear(position, value);
    if (table != null && table.size() == position && (position + 1) * value.size() <= MAX_TABLE) {
      table.add(value);
    } else {
      table = null;
    }
  }

  /** Whether all elements increase by one for each position. */
  private boolean isLinear(long position, Tensor value) {
    for (int i = 0; i < value.size(); i++) {
      if (value.getLong(i) != first.getLong(i) + position) {
        return false;
      }
    }
    return true;
  }

  /** Returns the value as computed from the position; empty if there is no simple formula. */
  Optional<Value> value(Position position, GraphEditor graph) {
    if (first == null || first.size() == 0) {
      return Optional.empty();
    }
    if (constant) {
      return Optional.of(graph.constant(first));
    }
    if (linear) {
      Value at = position.first();
      if (first.element() != at.type().element()) {
        at = graph.add(new Elementwise.Cast(first.element()), at);
      }
      return Optional.of(
          graph.add(new Elementwise.Binary(BinaryFunction.ADD), graph.constant(first), at));
    }
    return Optional.ofNullable(table).map(rows -> row(position, graph));
  }

  private Value row(Position position, GraphEditor graph) {
    double[] values = new double[table.size() * first.size()];
    for (int i = 0; i < table.size(); i++) {
      System.arraycopy(table.get(i).doubles(), 0, values, i * first.size(), first.size());
    }
    Shape shape = Shape.of(Dim.of(table.size())).concat(first.shape());
    Tensor data = Tensor.ofDoubles(new TensorType(first.element(), shape), values);
    return graph.add(new Movement.Gather(0), graph.constant(data), position.first());
  }
}
