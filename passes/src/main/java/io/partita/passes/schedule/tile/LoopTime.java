package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.NearCopy;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.ScalarCall;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;
import java.util.List;

/**
 * The predicted time of a loop over all tiles.
 *
 * @param cycles the cycles from start to end, with kernels in the instruction cache
 * @param coldCycles the additional cycles if they aren't
 * @param computeCycles the cycles in which kernels run
 * @param loadCycles the cycles of transfers to the working memory, which partly overlap with
 *     computing
 * @param storeCycles the cycles of transfers from it
 * @param waitsForLoads whether most tiles are computed in less time than the next one is loaded
 */
public record LoopTime(
    double cycles,
    double coldCycles,
    double computeCycles,
    double loadCycles,
    double storeCycles,
    long loadedBytes,
    long storedBytes,
    boolean waitsForLoads) {

  /** Returns the names of the functions that cores run in a loop: kernels, and runs of its own. */
  public static List<String> functions(TiledKernel kernel, ChipKind chip) {
    if (isScalar(kernel, chip) || isCopy(kernel, chip)) {
      return List.of();
    }
    return CallUnit.of(kernel.calls(), chip).stream()
        .map(
            unit ->
                unit.run().isPresent()
                    ? kernel.name() + " " + unit.kernel()
                    : unit.kernel().function())
        .toList();
  }

  /** Predicts a loop; if cores have private tiles, that of the core with the most. */
  public static LoopTime of(TiledKernel kernel, ChipKind chip) {
    if (isScalar(kernel, chip)) {
      return new LoopTime(chip.loopCycles(), 0, 0, 0, 0, 0, 0, false);
    }
    int axes = kernel.axes().size();
    boolean isPrivate = isPrivate(chip);
    CoreGrid grid = CoreGrid.of(chip);
    long[] extents =
        kernel.axes().stream()
            .mapToLong(
                axis ->
                    axis.over().isEmpty()
                        ? axis.extent()
                        : Math.min(
                            axis.extent(),
                            axis.tile() * Math.ceilDiv(axis.count(), grid.size(axis.over().get()))))
            .toArray();
    long[] tiles = kernel.axes().stream().mapToLong(TileAxis::tile).toArray();
    int[] order = new int[axes];
    java.util.Arrays.setAll(order, i -> i);
    int[] slots = kernel.operands().stream().mapToInt(TileOperand::slots).toArray();
    LoopModel model =
        new LoopModel(
            kernel.operands().stream()
                .map(
                    each ->
                        new LoopModel.Part(
                            each.element(),
                            each.packing(),
                            each.direction(),
                            each.box(),
                            each.isNear(),
                            sharing(each, kernel, grid)))
                .toList(),
            kernel.calls(),
            axes,
            isPrivate ? chip.oneCore() : chip);
    LoopTime time = model.time(new Tiling(extents, tiles, order, slots));
    return isCopy(kernel, chip) ? time.withoutKernels() : time;
  }

  private LoopTime withoutKernels() {
    return new LoopTime(
        cycles - computeCycles, 0, 0, loadCycles, storeCycles, loadedBytes, storedBytes, false);
  }

  private static boolean isPrivate(ChipKind chip) {
    return chip.working().scope() == Memory.Scope.CORE;
  }

  /** Whether the control core computes the loop, without transfers. */
  private static boolean isScalar(TiledKernel kernel, ChipKind chip) {
    return !isPrivate(chip) && ScalarCall.of(kernel.calls()).isPresent();
  }

  /** Whether the loop is a transfer. */
  private static boolean isCopy(TiledKernel kernel, ChipKind chip) {
    return !isPrivate(chip) && NearCopy.of(kernel).isPresent();
  }

  /** Returns the cores for which one loads the tiles of an operand. */
  private static long sharing(TileOperand operand, TiledKernel kernel, CoreGrid grid) {
    if (operand.multicast().isEmpty()) {
      return 1;
    }
    long cores = 1;
    for (int axis = 0; axis < kernel.axes().size(); axis++) {
      TileAxis one = kernel.axes().get(axis);
      if (one.over().isPresent() && !operand.dependsOn(axis)) {
        cores *= Math.min(grid.size(one.over().get()), one.count());
      }
    }
    return cores;
  }
}
