package io.partita.ir.schedule.kernel;

import java.util.List;

/**
 * A kernel of the runtime that works on one tile, on all cores.
 *
 * @param arguments fields of the kernel's struct; those that are left out are 0
 * @param onLast axes: it runs only in tiles that are the last along all of these
 */
public record KernelCall(Kernel kernel, List<Argument> arguments, List<Integer> onLast) {
  /**
   * @throws IllegalArgumentException if the kernel's struct has no such fields
   */
  public KernelCall {
    arguments = List.copyOf(arguments);
    onLast = List.copyOf(onLast);
    kernel.struct().require(arguments);
  }

  /** In C. */
  public String function() {
    return kernel.function();
  }

  /**
   * For each tile, in what the kernel's rate counts: {@code batch, rows, columns, depth}. Computed
   * anew by each call.
   */
  public List<TileExpression> work() {
    return kernel.struct().work().apply(new CallWork(arguments));
  }
}
