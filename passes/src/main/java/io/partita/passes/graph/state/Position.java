package io.partita.passes.graph.state;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The positions of new tokens.
 *
 * @param starts {@code i64[batch]}: the position of the first new token
 * @param first the scalar position in the first sequence of the batch
 */
record Position(Value starts, Value first) {
  private static final String NAME = "position";

  /**
   * Creates it from the model's own input of positions, or from a new one, {@code position:
   * i64[batch]}.
   */
  static Position of(GraphEditor graph, Dim batch) {
    Value starts =
        graph.inputs().stream()
            .filter(Position::isPosition)
            .findFirst()
            .flatMap(input -> starts(input, batch, graph))
            .orElseGet(
                () -> graph.addInput(NAME, new TensorType(ElementType.I64, Shape.of(batch))));
    Value one =
        graph.add(new Movement.Slice(List.of(Dim.ZERO), List.of(Dim.ONE), List.of(1L)), starts);
    return new Position(starts, graph.add(new Movement.Reshape(Shape.SCALAR), one));
  }

  static boolean isPosition(Value input) {
    ElementType element = input.type().element();
    return input.name().toLowerCase(Locale.ROOT).contains("pos")
        && (element == ElementType.I64 || element == ElementType.I32)
        && input.type().rank() <= 2;
  }

  /**
   * Returns the first position of each sequence; the input may hold the position of every new
   * token.
   */
  private static Optional<Value> starts(Value input, Dim batch, GraphEditor graph) {
    Value wide =
        input.type().element() == ElementType.I64
            ? input
            : graph.add(new Elementwise.Cast(ElementType.I64), input);
    Shape shape = wide.type().shape();
    if (shape.equals(Shape.of(batch))) {
      return Optional.of(wide);
    }
    int last = shape.rank() - 1;
    if (last >= 0 && !shape.dim(last).is(1)) {
      Shape one = shape.with(last, Dim.ONE);
      wide =
          graph.add(
              new Movement.Slice(
                  Collections.nCopies(shape.rank(), Dim.ZERO),
                  one.dims(),
                  Collections.nCopies(shape.rank(), 1L)),
              wide);
    }
    Dim size = wide.type().shape().size();
    Shape vector = Shape.of(batch);
    if (size.equals(batch)) {
      return Optional.of(graph.add(new Movement.Reshape(vector), wide));
    }
    return size.is(1)
        ? Optional.of(
            graph.add(
                new Movement.Broadcast(vector), graph.add(new Movement.Reshape(Shape.of(1)), wide)))
        : Optional.empty();
  }

  /** Returns the start positions for a cache whose first axis has this extent. */
  Value startsFor(Dim extent, Dim batch, GraphEditor graph) {
    if (extent.equals(batch)) {
      return starts;
    }
    Value one = graph.add(new Movement.Reshape(Shape.of(1)), first);
    return graph.add(new Movement.Broadcast(Shape.of(extent)), one);
  }

  /** Returns {@code starts + count}, for each sequence. */
  Value after(Dim count, GraphEditor graph) {
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), starts, number(count, graph));
  }

  /** Returns {@code first + count}. */
  Value firstAfter(Dim count, GraphEditor graph) {
    return count.is(0)
        ? first
        : graph.add(new Elementwise.Binary(BinaryFunction.ADD), first, number(count, graph));
  }

  private static Value number(Dim count, GraphEditor graph) {
    return count.isStatic()
        ? graph.constant(Tensor.scalar(ElementType.I64, count.value()))
        : graph.add(new Source.Extent(count));
  }
}
