package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;

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

  /** Predicts a loop. */
  public static LoopTime of(TiledKernel kernel, ChipKind chip) {
    int axes = kernel.axes().size();
    long[] extents = kernel.axes().stream().mapToLong(TileAxis::extent).toArray();
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
            chip);
    return model.time(new Tiling(extents, tiles, order, slots));
  }
}
