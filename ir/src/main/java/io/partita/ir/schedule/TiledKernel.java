package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.KernelCall;
import java.util.List;

/**
 * A loop over tiles: loads, kernels, stores. Steps of the same shape share one.
 *
 * <p>Axes are in the order of their loops, outermost first. An operand is loaded anew when an axis
 * that it depends on takes a step, or starts over because an outer one does. A result is stored
 * after the last tile along the axes within those that it depends on; axes that it doesn't depend
 * on are the innermost ones.
 *
 * @param name a C identifier, one of its own in the schedule, that says kernel and extents
 * @param axes outermost first; none if there's one tile
 * @param calls in order, for each tile
 * @param stages which processor does what in which order
 * @param workingBytes how much of the working memory is used, from offset 0 on
 */
public record TiledKernel(
    String name,
    List<TileAxis> axes,
    List<TileOperand> operands,
    List<TileScratch> scratch,
    List<KernelCall> calls,
    List<Stage> stages,
    long workingBytes) {
  public TiledKernel {
    axes = List.copyOf(axes);
    operands = List.copyOf(operands);
    scratch = List.copyOf(scratch);
    calls = List.copyOf(calls);
    stages = List.copyOf(stages);
  }

  /** How many tiles there are at most. */
  public long tiles() {
    return axes.stream().mapToLong(TileAxis::count).reduce(1, Math::multiplyExact);
  }
}
