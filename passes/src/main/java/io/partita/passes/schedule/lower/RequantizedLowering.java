package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.passes.schedule.legalize.Group;
import java.util.List;
import java.util.Optional;

/** Groups of a product or a convolution of integers, perhaps a bias, and a requantization. */
final class RequantizedLowering {
  private RequantizedLowering() {}

  static Optional<TileSpace> lower(Group group, List<TensorView> operands, TensorView result) {
    if (!(group.nodes().getLast().op() instanceof Requantize requantize)) {
      return Optional.empty();
    }
    boolean bias = group.nodes().size() == 3;
    if (group.first().op() instanceof MatMul(var type)
        && IntegerProduct.hasKernel(operands.get(0).element(), operands.get(1).element(), type)) {
      return Optional.of(IntegerProduct.of(operands, result, bias, Optional.of(requantize)));
    }
    if (group.first().op() instanceof Convolution convolution
        && ConvolutionLowering.hasKernel(convolution, operands)) {
      return Optional.of(
          new ConvolutionSpace(convolution, operands, result).build(Optional.of(requantize)));
    }
    return Optional.empty();
  }
}
