package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.Convolution;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The convolutions of {@code convolution.h}. */
final class ConvolutionLowering implements KernelLowering {
  private static final Set<String> TYPES = Set.of("f32_f32", "i8_i8", "u8_i8", "i32_i8", "i32_i32");

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
        && TYPES.contains(data.text() + "_" + weight.text());
  }
}
