package io.partita.ir.schedule;

import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * A loop over tiles: loads, kernels, stores. Steps of the same shape share one.
 *
 * <p>Axes are in the order of their loops, outermost first. An operand is loaded again when an axis
 * on which it depends advances or restarts. A result is stored after the last tile along the axes
 * on which it doesn't depend, which are the innermost ones.
 *
 * @param name a C identifier, unique in the schedule, of kernel and extents
 * @param axes the axes, outermost first; empty for a single tile
 * @param calls the calls for each tile, in order
 * @param stages the stages of processors
 * @param workingBytes the used bytes of the working memory, from offset 0
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

  /** Returns the largest number of tiles. */
  public long tiles() {
    return axes.stream().mapToLong(TileAxis::count).reduce(1, Math::multiplyExact);
  }

  /**
   * Whether kernels of f32 have an operand in 16 bits or in blocks: what reads a circular buffer
   * unpacks its elements, and what writes to one packs them. Results are packed when they are
   * stored.
   */
  public boolean isUnpacked(int operand) {
    TileOperand one = operands.get(operand);
    return one.buffer().isPresent()
        && (one.element() == ElementType.BF16 || one.packing() != Packing.PLAIN)
        && calls.stream()
            .map(KernelCall::kernel)
            .noneMatch(kernel -> kernel.elements().contains(ElementType.BF16))
        && calls.stream().anyMatch(call -> call.kernel().elements().contains(ElementType.F32));
  }

  /** Whether a core has work: the first one does everything that isn't distributed. */
  public boolean isDealt(CoreGrid cores, int core) {
    for (CoreGrid.Axis direction : List.of(CoreGrid.Axis.ROWS, CoreGrid.Axis.COLUMNS)) {
      boolean isDealt =
          axes.stream()
              .flatMap(axis -> axis.over().stream())
              .anyMatch(over -> over == direction || over == CoreGrid.Axis.CORES);
      if (!isDealt && cores.place(core, direction) > 0) {
        return false;
      }
    }
    return true;
  }
}
