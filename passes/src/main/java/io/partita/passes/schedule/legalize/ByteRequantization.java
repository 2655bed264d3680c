package io.partita.passes.schedule.legalize;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.op.IntegerNetwork.Lookup;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/** Requantizations of bytes with one constant multiplier and one constant addend. */
final class ByteRequantization {
  private ByteRequantization() {}

  /**
   * Returns the result for each value of the operand's type, in the order of {@link
   * Lookup#arguments}.
   *
   * @param node a requantization
   * @return empty if its operand isn't one of bytes, or its scale isn't constant
   */
  static Optional<Tensor> table(Node node, GraphEditor graph) {
    ElementType domain = graph.operand(node, 0).type().element();
    Optional<Tensor> multiplier = graph.constant(graph.operand(node, 1));
    Optional<Tensor> addend = graph.constant(graph.operand(node, 2));
    boolean isTable =
        domain.isByte()
            && QuantizeEarly.hasOneScale(node)
            && multiplier.isPresent()
            && addend.isPresent();
    if (!isTable) {
      return Optional.empty();
    }
    List<Tensor> operands =
        List.of(
            Lookup.arguments(domain, domain),
            multiplier.get().reshaped(Shape.SCALAR),
            addend.get().reshaped(Shape.SCALAR));
    return Optional.of(OpEvaluator.evaluate(node.op(), operands).getFirst());
  }
}
