package io.partita.passes.graph.raise.attention;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;

/** Lower bounds of the elements of masks, for all inputs. */
final class LowestMask {
  private static final int MAX_DEPTH = 12;

  private LowestMask() {}

  /** Returns a lower bound of all elements; minus infinity if none is known. */
  static double of(Value mask, GraphEditor graph) {
    return of(mask, graph, MAX_DEPTH);
  }

  private static double of(Value value, GraphEditor graph, int depth) {
    Node node = graph.definition(value).orElse(null);
    if (node == null || depth == 0) {
      return Double.NEGATIVE_INFINITY;
    }
    return switch (node.op()) {
      case Source.Constant(Tensor data) -> lowest(data);
      case Elementwise.Select select -> lowest(node, 1, 2, graph, depth);
      case Elementwise.Cast cast when graph.operand(node, 0).type().element().isFloat() ->
          of(graph.operand(node, 0), graph, depth - 1);
      case Elementwise.Binary(BinaryFunction function) when function == BinaryFunction.ADD ->
          sum(node, graph, depth);
      case Movement.Concat concat -> lowest(node, 0, node.operands().size() - 1, graph, depth);
      case Movement.Reshape reshape -> of(graph.operand(node, 0), graph, depth - 1);
      case Movement.Transpose transpose -> of(graph.operand(node, 0), graph, depth - 1);
      case Movement.Broadcast broadcast -> of(graph.operand(node, 0), graph, depth - 1);
      case Movement.Slice slice -> of(graph.operand(node, 0), graph, depth - 1);
      case Movement.Gather gather -> of(graph.operand(node, 0), graph, depth - 1);
      case Op other -> Double.NEGATIVE_INFINITY;
    };
  }

  private static double lowest(Tensor data) {
    double lowest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < data.size(); i++) {
      double value = data.getDouble(i);
      lowest = Double.isNaN(value) ? Double.NEGATIVE_INFINITY : Math.min(lowest, value);
    }
    return lowest;
  }

  private static double lowest(Node node, int first, int last, GraphEditor graph, int depth) {
    double lowest = Double.POSITIVE_INFINITY;
    for (int i = first; i <= last; i++) {
      lowest = Math.min(lowest, of(graph.operand(node, i), graph, depth - 1));
    }
    return lowest;
  }

  /** Returns no bound if the sum is below the range of the element type, where it overflows. */
  private static double sum(Node node, GraphEditor graph, int depth) {
    double sum =
        of(graph.operand(node, 0), graph, depth - 1) + of(graph.operand(node, 1), graph, depth - 1);
    return sum >= MaskTerm.lowest(node.result().type().element()) ? sum : Double.NEGATIVE_INFINITY;
  }
}
