package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.passes.schedule.legalize.Group;
import java.util.List;
import java.util.Optional;

/**
 * Lowers groups of an integer product or convolution, an optional bias, a requantization, and
 * epilogues.
 */
final class RequantizedLowering {
  private RequantizedLowering() {}

  static Optional<TileSpace> lower(Group group, List<TensorView> operands, TensorView result) {
    TileEpilogues epilogues = TileEpilogues.of(group, operands);
    if (!(group.main().getLast().op() instanceof Requantize requantize)) {
      return Optional.empty();
    }
    boolean bias = group.main().size() == 3;
    if (group.first().op() instanceof MatMul(var type)
        && IntegerProduct.hasKernel(operands.get(0).element(), operands.get(1).element(), type)) {
      return Optional.of(
          IntegerProduct.of(operands, result, bias, Optional.of(requantize), epilogues));
    }
    if (group.first().op() instanceof Convolution convolution
        && ConvolutionLowering.hasKernel(convolution, operands)) {
      return Optional.of(
          new ConvolutionSpace(convolution, operands, result)
              .build(Optional.of(requantize), epilogues));
    }
    return Optional.empty();
  }
}
