package io.partita.passes.schedule.legalize;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized.Dequantize;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code dequantize(u4) -> dequantize(u8)} of constants and rows of constants, because kernels take
 * whole bytes.
 */
final class WidenNibbles implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Dequantize.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.operand(
        0, Pattern.any().where(value -> value.type().element().bits() < Byte.SIZE));
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    ElementType element = graph.operand(node, 0).type().element();
    ElementType wide = element.kind() == ElementType.Kind.SIGNED ? ElementType.I8 : ElementType.U8;
    Optional<Value> quantized = widened(graph.operand(node, 0), wide, graph);
    Optional<Value> zero = widened(graph.operand(node, 2), wide, graph);
    return quantized.isPresent() && zero.isPresent()
        ? Optional.of(graph.add(node.op(), quantized.get(), graph.operand(node, 1), zero.get()))
        : Optional.empty();
  }

  /** Returns the widened numbers, if they come from a constant by movements alone. */
  private static Optional<Value> widened(Value value, ElementType wide, GraphEditor graph) {
    Node node = graph.definition(value).orElse(null);
    if (node == null) {
      return Optional.empty();
    }
    if (node.constant().isPresent()) {
      Tensor data = node.constant().get();
      return Optional.of(
          graph.constant(
              Tensor.deferred(
                  data.type().with(wide),
                  () ->
                      OpEvaluator.evaluate(new Elementwise.Cast(wide), List.of(data))
                          .getFirst()
                          .bytes())));
    }
    boolean moves =
        node.op() instanceof Movement.Gather
            || node.op() instanceof Movement.Reshape
            || node.op() instanceof Movement.Transpose
            || node.op() instanceof Movement.Slice;
    if (!moves) {
      return Optional.empty();
    }
    List<Value> operands = new ArrayList<>(graph.operands(node));
    Optional<Value> data = widened(operands.getFirst(), wide, graph);
    data.ifPresent(each -> operands.set(0, each));
    return data.map(each -> graph.add(node.op(), operands));
  }
}
