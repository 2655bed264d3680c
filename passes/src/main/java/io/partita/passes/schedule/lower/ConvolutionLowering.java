package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.KernelTypes;
import java.util.List;
import java.util.Optional;

/** The convolutions of {@code convolution.h}. */
final class ConvolutionLowering implements KernelLowering {
  @Override
  public Optional<TileSpace> lower(Op op, List<TensorView> operands, List<TensorView> results) {
    return op instanceof Convolution convolution && hasKernel(convolution, operands)
        ? Optional.of(
            new ConvolutionSpace(convolution, operands, results.getFirst()).build(Optional.empty()))
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
