package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Memory;

/**
 * How long a loop over tiles takes by the figures of a chip, all tiles being run.
 *
 * @param cycles from start to end, kernels being in the cache of instructions
 * @param coldCycles more, where they aren't
 * @param computeCycles in which kernels run
 * @param loadCycles of transfers to the working memory, of which some pass while cores work
 * @param storeCycles of transfers from it
 */
public record LoopTime(
    double cycles,
    double coldCycles,
    double computeCycles,
    double loadCycles,
    double storeCycles,
    long loadedBytes,
    long storedBytes) {

  /** Predicts a loop; where cores have tiles of their own, it is one core that has most. */
  public static LoopTime of(TiledKernel kernel, ChipKind chip) {
    int axes = kernel.axes().size();
    boolean isPrivate = chip.working().scope() == Memory.Scope.CORE;
    CoreGrid grid = GridTiles.grid(chip);
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
                .map(each -> new LoopModel.Part(each.element(), each.direction(), each.box()))
                .toList(),
            kernel.calls(),
            axes,
            isPrivate ? chip.oneCore() : chip);
    return model.time(new Tiling(extents, tiles, order, slots));
  }
}
