package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.KernelTypes;
import java.util.List;
import java.util.Optional;

/** Lowers convolutions to {@code convolution.h}. */
final class ConvolutionLowering {
  private ConvolutionLowering() {}

  static Optional<TileSpace> lower(
      Convolution convolution,
      List<TensorView> operands,
      TensorView result,
      TileEpilogues epilogues) {
    return hasKernel(convolution, operands)
        ? Optional.of(
            ConvolutionSpace.of(convolution, operands, result, Optional.empty(), epilogues))
        : Optional.empty();
  }

  static boolean hasKernel(Convolution convolution, List<TensorView> operands) {
    ElementType data = operands.get(0).element();
    ElementType weight = operands.get(1).element();
    ElementType result = convolution.result();
    return convolution.window().spatialRank() <= 2
        && (result == ElementType.I32 || result == ElementType.F32)
        && KernelTypes.hasConvolution(data, weight);
  }
}
