package io.partita.passes.graph.state;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.state.MaskForm.Bias;
import java.util.List;

/** Builds the bias of scores over the whole cache from the positions of tokens. */
final class MaskOperand {
  private MaskOperand() {}

  static Value of(Bias bias, Dim fresh, Position position, GraphEditor graph) {
    return switch (bias) {
      case Bias.ByKey(Tensor values) -> graph.constant(values);
      case Bias.ByDistance byDistance -> byDistance(byDistance, fresh, position, graph);
      case Bias.ByPosition(Tensor values) ->
          graph.add(new Movement.Gather(0), graph.constant(values), position.first());
    };
  }

  private static Value byDistance(
      Bias.ByDistance bias, Dim fresh, Position position, GraphEditor graph) {
    int n = Math.toIntExact(fresh.value());
    int capacity = Math.toIntExact(bias.values().shape().extent(0)) - n;
    long[] places = new long[n * capacity];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < capacity; j++) {
        places[i * capacity + j] = i - j + bias.later();
      }
    }
    Value place =
        graph.add(
            new Elementwise.Binary(BinaryFunction.ADD),
            graph.constant(Tensor.longs(Shape.of(n, capacity), places)),
            position.first());
    // Keys after all queries aren't valid, so their bias doesn't matter.
    Value inside =
        graph.add(
            new Elementwise.Binary(BinaryFunction.MAX),
            place,
            graph.constant(Tensor.scalar(ElementType.I64, 0)));
    Value rows = graph.add(new Movement.Gather(0), graph.constant(bias.values()), inside);
    Value turned = graph.add(new Movement.Transpose(List.of(2, 0, 1)), rows);
    return graph.add(
        new Movement.Reshape(Shape.of(bias.batch(), bias.heads(), n, capacity)), turned);
  }
}
