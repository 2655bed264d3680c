package io.partita.passes.schedule.lower;

import io.partita.ir.op.Contraction.MatMul;
import io.partita.ir.op.Op;
import java.util.List;
import java.util.Optional;

/** The products of integers of {@code gemm.h}. */
final class IntegerProductLowering implements KernelLowering {
  @Override
  public Optional<TileSpace> lower(Op op, List<TensorView> operands, List<TensorView> results) {
    return op instanceof MatMul(var type)
            && IntegerProduct.hasKernel(operands.get(0).element(), operands.get(1).element(), type)
        ? Optional.of(IntegerProduct.of(operands, results.getFirst(), false, Optional.empty()))
        : Optional.empty();
  }
}
