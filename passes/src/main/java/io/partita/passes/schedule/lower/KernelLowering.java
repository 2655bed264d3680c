package io.partita.passes.schedule.lower;

import io.partita.ir.op.Op;
import java.util.List;
import java.util.Optional;

/** Finds the kernels of one group of operations. */
public interface KernelLowering {
  /**
   * @param operands the node's operands in L2
   * @param results its results
   * @return none if the runtime has no kernel for it
   */
  Optional<TileSpace> lower(Op op, List<TensorView> operands, List<TensorView> results);
}
