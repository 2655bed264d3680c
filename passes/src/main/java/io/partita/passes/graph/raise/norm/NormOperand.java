package io.partita.passes.graph.raise.norm;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import java.util.Optional;

/** The scale or the bias of a norm. */
final class NormOperand {
  private NormOperand() {}

  /**
   * Returns {@code value} without outer dimensions of 1; empty unless it is a weight over the
   * dimensions of the norm.
   */
  static Optional<Value> of(Value value, Structured.Norm norm, Value x, GraphEditor graph) {
    Shape inner = x.type().shape().range(norm.axis(), x.type().rank());
    Shape shape = value.type().shape();
    int extra = Math.max(0, shape.rank() - inner.rank());
    Shape trimmed = shape.range(extra, shape.rank());
    boolean isVector =
        shape.range(0, extra).dims().stream().allMatch(dim -> dim.equals(Dim.ONE))
            && inner.equals(Shape.broadcast(trimmed, inner))
            && trimmed.rank() > 0;
    return isVector && Parameters.isParameter(value, graph)
        ? Optional.of(Parameters.reshaped(value, trimmed, graph))
        : Optional.empty();
  }
}
