package io.partita.ir.schedule.kernel;

import java.util.List;

/**
 * A call of a kernel of the runtime for one tile, on all cores.
 *
 * @param arguments the fields of the struct; omitted ones are 0
 * @param onFirst the axes along all of which a tile must be the first one for the call to run
 * @param onLast those along all of which it must be the last one
 */
public record KernelCall(
    Kernel kernel, List<Argument> arguments, List<Integer> onFirst, List<Integer> onLast) {
  /**
   * @throws IllegalArgumentException if the struct has no such fields
   */
  public KernelCall {
    arguments = List.copyOf(arguments);
    onFirst = List.copyOf(onFirst);
    onLast = List.copyOf(onLast);
    kernel.struct().require(arguments);
  }

  public KernelCall(Kernel kernel, List<Argument> arguments, List<Integer> onLast) {
    this(kernel, arguments, List.of(), onLast);
  }

  /** Whether the call runs in a tile. */
  public boolean runsIn(TileExpression.Tile tile) {
    return onFirst.stream().allMatch(tile::isFirst) && onLast.stream().allMatch(tile::isLast);
  }

  /** Whether the call runs in the same tiles as another one. */
  public boolean runsWith(KernelCall other) {
    return onFirst.equals(other.onFirst) && onLast.equals(other.onLast);
  }

  /** Whether the call runs in some tiles along an axis only. */
  public boolean isConditional(int axis) {
    return onFirst.contains(axis) || onLast.contains(axis);
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
