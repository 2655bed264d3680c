package io.partita.passes.program.values;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * The matrices of products, which may be stored in blocks ({@link io.partita.ir.schedule.Packing}).
 */
public final class ProductWeights {
  private ProductWeights() {}

  /** Returns {@link #extents} of an operand that is a constant; otherwise it is empty. */
  public static Optional<List<Long>> constant(Node product, int operand) {
    Value value = product.operand(operand);
    return value.isInput() || !(value.definition().op() instanceof Source.Constant)
        ? Optional.empty()
        : extents(product.op(), operand, value.type());
  }

  /**
   * Returns the extents of a matrix by which a product multiplies features: input features, then
   * output features, of which blocks consist. Empty for any other operand.
   *
   * @param type the type of the operand
   */
  public static Optional<List<Long>> extents(Op product, int operand, TensorType type) {
    boolean isTransposed = product instanceof Structured.Linear linear && linear.transposed();
    boolean isRead =
        product instanceof Structured.Linear
            ? operand == 1
            : product instanceof Structured.Ffn && operand > 0;
    if (!isRead
        || type.element() != ElementType.F32 && type.element() != ElementType.BF16
        || type.rank() != 2
        || type.shape().elements() == 0) {
      return Optional.empty();
    }
    List<Long> extents = List.of(type.shape().extent(0), type.shape().extent(1));
    // A single input feature leaves nothing to tell columns from rows by.
    return isTransposed
        ? Optional.of(extents.reversed()).filter(each -> each.getFirst() > 1)
        : Optional.of(extents);
  }
}
