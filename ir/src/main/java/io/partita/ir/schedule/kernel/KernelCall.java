package io.partita.ir.schedule.kernel;

import java.util.List;

/**
 * A call of a kernel of the runtime for one tile, on all cores.
 *
 * @param arguments the fields of the struct; omitted ones are 0
 * @param onLast the axes along all of which a tile must be the last one for the call to run
 */
public record KernelCall(Kernel kernel, List<Argument> arguments, List<Integer> onLast) {
  /**
   * @throws IllegalArgumentException if the struct has no such fields
   */
  public KernelCall {
    arguments = List.copyOf(arguments);
    onLast = List.copyOf(onLast);
    kernel.struct().require(arguments);
  }

  /** The name in C. */
  public String function() {
    return kernel.function();
  }

  /** Whether an argument points to an operand of the loop. */
  public boolean uses(int operand) {
    return arguments.stream()
        .flatMap(Argument::pointers)
        .anyMatch(
            pointer ->
                pointer instanceof Argument.Value.OperandPointer own && own.operand() == operand);
  }

  /**
   * Returns the work per tile, in the units of the rate of the kernel: {@code batch, rows, columns,
   * depth}. Not cached.
   */
  public List<TileExpression> work() {
    return kernel.struct().work().apply(new CallWork(arguments));
  }
}
