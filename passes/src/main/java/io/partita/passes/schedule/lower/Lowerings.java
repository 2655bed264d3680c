package io.partita.passes.schedule.lower;

import io.partita.ir.op.Op;
import io.partita.passes.schedule.legalize.Group;
import java.util.List;
import java.util.Optional;

/** Finds the kernels of every operation that the runtime has some for. */
public final class Lowerings {
  private static final List<KernelLowering> KERNELS =
      List.of(
          new IntegerProductLowering(),
          new ConvolutionLowering(),
          new PoolLowering(),
          new IntegerNetworkLowering(),
          new QuantizedLowering());

  private Lowerings() {}

  /**
   * @param operands the group's operands in L2
   * @param results its results
   * @return none if the runtime has no kernel for it
   */
  public static Optional<TileSpace> lower(
      Group group, List<TensorView> operands, List<TensorView> results) {
    return group.nodes().size() > 1
        ? RequantizedLowering.lower(group, operands, results.getFirst())
        : lower(group.first().op(), operands, results);
  }

  static Optional<TileSpace> lower(Op op, List<TensorView> operands, List<TensorView> results) {
    return KERNELS.stream().flatMap(each -> each.lower(op, operands, results).stream()).findFirst();
  }
}
