package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.passes.schedule.legalize.Group;
import java.util.List;
import java.util.Optional;

/**
 * Lowers groups of an integer product or convolution, an optional bias, an optional requantization,
 * and epilogues.
 */
final class ProductGroupLowering {
  private ProductGroupLowering() {}

  static Optional<TileSpace> lower(
      Group group, List<TensorView> operands, List<TensorView> results) {
    TensorView result = results.getFirst();
    TileEpilogues epilogues = TileEpilogues.of(group, operands, results);
    Optional<Requantize> requantize =
        group.main().getLast().op() instanceof Requantize last
            ? Optional.of(last)
            : Optional.empty();
    if (group.first().op() instanceof MatMul(var type)
        && IntegerProduct.hasKernel(operands.get(0).element(), operands.get(1).element(), type)) {
      boolean bias = group.main().size() == (requantize.isPresent() ? 3 : 2);
      return Optional.of(IntegerProduct.of(operands, result, bias, requantize, epilogues));
    }
    if (group.first().op() instanceof Convolution convolution
        && requantize.isPresent()
        && ConvolutionLowering.hasKernel(convolution, operands)) {
      return Optional.of(ConvolutionSpace.of(convolution, operands, result, requantize, epilogues));
    }
    return Optional.empty();
  }
}
