package io.partita.passes.graph.raise.integer;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Dequantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A matrix that is dequantized from constants to f32, with f32 scales, and then moved.
 *
 * @param quantized the value of the integers
 * @param integers the integers, before the movements
 * @param movements transposes and slices, in order
 */
record DequantizedConstant(
    Dequantize op,
    Value quantized,
    Tensor integers,
    Tensor scale,
    Tensor zero,
    List<Op> movements) {
  /**
   * @param weight {@code [in, out]}, or {@code [out, in]} if {@code transposed}
   */
  static Optional<DequantizedConstant> of(Value weight, boolean transposed, GraphEditor graph) {
    List<Op> movements = new ArrayList<>();
    if (transposed) {
      movements.add(new Movement.Transpose(List.of(1, 0)));
    }
    Value at = weight;
    Node node = graph.definition(at).orElse(null);
    while (node != null && isMovement(node.op())) {
      movements.addFirst(node.op());
      at = graph.operand(node, 0);
      node = graph.definition(at).orElse(null);
    }
    if (node == null || !(node.op() instanceof Dequantize op) || op.to() != ElementType.F32) {
      return Optional.empty();
    }
    Tensor integers = constant(graph.operand(node, 0), graph);
    Tensor scale = constant(graph.operand(node, 1), graph);
    Tensor zero = constant(graph.operand(node, 2), graph);
    boolean isKnown =
        integers != null
            && scale != null
            && zero != null
            && scale.element() == ElementType.F32
            && integers.shape().rank() == 2;
    return isKnown
        ? Optional.of(
            new DequantizedConstant(
                op, graph.operand(node, 0), integers, scale, zero, List.copyOf(movements)))
        : Optional.empty();
  }

  private static boolean isMovement(Op op) {
    return op instanceof Movement.Transpose || op instanceof Movement.Slice;
  }

  /** Returns a constant, or a reshaped one: large ones aren't folded. */
  private static Tensor constant(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node != null && node.op() instanceof Movement.Reshape) {
      Tensor source = constant(graph.operand(node, 0), graph);
      return source == null ? null : source.reshaped(value.type().shape());
    }
    return graph.constant(value).orElse(null);
  }
}
