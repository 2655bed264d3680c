package io.partita.passes.graph.raise;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized.Dequantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What stands for a value of f32: {@code (integers - zero) scale}.
 *
 * @param integers i8 or u8, not constant
 */
public record DequantizedBytes(Value integers, float scale, long zero) {
  /** Returns what is dequantized with one scale and zero point; empty for other values. */
  public static Optional<DequantizedBytes> of(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node == null
        || !(node.op() instanceof Dequantize(var axis, var block, var to))
        || to != ElementType.F32) {
      return Optional.empty();
    }
    Value integers = graph.operand(node, 0);
    Tensor scale = graph.constant(graph.operand(node, 1)).orElse(null);
    Tensor zero = graph.constant(graph.operand(node, 2)).orElse(null);
    boolean isKnown =
        integers.type().element().isByte()
            && graph.constant(integers).isEmpty()
            && scale != null
            && scale.element() == ElementType.F32
            && scale.size() == 1
            && zero != null;
    return isKnown
        ? Optional.of(new DequantizedBytes(integers, scale.floats()[0], zero.getLong(0)))
        : Optional.empty();
  }

  /** Returns the dequantized bytes {@code [..., rows, in]} that a linear multiplies. */
  public static Optional<DequantizedBytes> input(Node linear, GraphEditor graph) {
    return of(graph.operand(linear, 0), graph).filter(input -> input.integers.type().rank() >= 2);
  }

  /** Like {@link #of}, but a value may also be moved after it was dequantized. */
  public static Optional<DequantizedBytes> moved(Value value, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    boolean isMovement =
        node != null
            && switch (node.op()) {
              case Movement.Reshape reshape -> true;
              case Movement.Transpose transpose -> true;
              case Movement.Broadcast broadcast -> true;
              case Movement.Slice slice -> true;
              case Movement.Concat concat -> true;
              default -> false;
            };
    if (!isMovement) {
      return of(value, graph);
    }
    List<Value> parts = new ArrayList<>();
    DequantizedBytes first = null;
    for (Value operand : graph.operands(node)) {
      DequantizedBytes part = moved(operand, graph).orElse(null);
      if (part == null || first != null && !part.isCodedLike(first)) {
        return Optional.empty();
      }
      first = first == null ? part : first;
      parts.add(part.integers);
    }
    return Optional.of(new DequantizedBytes(graph.add(node.op(), parts), first.scale, first.zero));
  }

  private boolean isCodedLike(DequantizedBytes other) {
    return scale == other.scale
        && zero == other.zero
        && integers.type().element() == other.integers.type().element();
  }
}
