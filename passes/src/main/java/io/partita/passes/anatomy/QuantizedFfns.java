package io.partita.passes.anatomy;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.UnaryFunction;
import io.partita.passes.raise.linear.FfnOperands;
import java.util.Optional;

/** Feed-forward networks whose linears are quantised, which no rule joins. */
final class QuantizedFfns {
  private final Projections projections;

  QuantizedFfns(Projections projections) {
    this.projections = projections;
  }

  /** The network that ends with this projection. */
  Optional<Block.FfnPart> endingWith(Projection down) {
    Node hidden = unshaped(down.input()).definition();
    if (!down.quantized() || hidden == null) {
      return Optional.empty();
    }
    return switch (hidden.op()) {
      case Elementwise.Unary unary -> activation(hidden).map(found -> part(down, false, found));
      case Elementwise.Binary(BinaryFunction function) when function == BinaryFunction.MUL ->
          gate(hidden.operand(0), hidden.operand(1))
              .or(() -> gate(hidden.operand(1), hidden.operand(0)))
              .map(found -> part(down, true, found));
      case Op other -> Optional.empty();
    };
  }

  private static Block.FfnPart part(Projection down, boolean gated, UnaryFunction activation) {
    return new Block.FfnPart(
        down.node(), gated, activation, down.input().type().shape().fromEnd(0), true);
  }

  private Optional<UnaryFunction> gate(Value activated, Value up) {
    Node node = unshaped(activated).definition();
    return node != null && projections.giving(unshaped(up)).isPresent()
        ? activation(node)
        : Optional.empty();
  }

  /** The function that is applied to a projection. */
  private Optional<UnaryFunction> activation(Node node) {
    return node.op() instanceof Elementwise.Unary(UnaryFunction function)
            && FfnOperands.isActivation(function)
            && projections.giving(unshaped(node.operand(0))).isPresent()
        ? Optional.of(function)
        : Optional.empty();
  }

  private static Value unshaped(Value value) {
    Value at = value;
    while (at.definition() != null && at.definition().op() instanceof Movement.Reshape) {
      at = at.definition().operand(0);
    }
    return at;
  }
}
