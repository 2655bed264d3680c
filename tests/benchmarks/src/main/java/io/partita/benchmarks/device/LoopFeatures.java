package io.partita.benchmarks.device;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.DmaChannel;
import io.partita.passes.schedule.tile.BoxTransfer;

/**
 * The work of a loop besides its kernels.
 *
 * @param operands the number of operands that it moves
 * @param boxes the number of operands whose tiles aren't single lines
 * @param moves the number of further tiles of operands
 * @param lastLoad the cycles of the first load of the last operand
 * @param longestLoad the longest first load of other operands
 * @param stores the cycles of the first stores of all operands
 * @param steadyCycles the cycles of transfers in one direction after the first tile
 * @param isDouble whether all operands with further tiles have two slots
 */
record LoopFeatures(
    long tiles,
    int operands,
    int boxes,
    double moves,
    double lastLoad,
    double longestLoad,
    double stores,
    double steadyCycles,
    boolean isDouble) {
  static LoopFeatures of(TiledKernel loop, ChipKind chip) {
    int operands = 0;
    int boxes = 0;
    double moves = 0;
    double lastLoad = 0;
    double longestLoad = 0;
    double stores = 0;
    double loading = 0;
    double storing = 0;
    boolean isDouble = true;
    for (TileOperand operand : loop.operands()) {
      if (!operand.isMoved()) {
        continue;
      }
      boolean isLoad = operand.direction() == Direction.LOAD;
      BoxTransfer transfer =
          BoxTransfer.of(
              operand.element(),
              operand.packing(),
              operand.box().stream().map(BoxDimension::whenLoaded).toList(),
              new LoopPosition(loop));
      double cycles = transfer.transferCycles(channel(chip, isLoad));
      long more = moves(operand, loop) - 1;
      operands++;
      boxes += transfer.isLine() ? 0 : 1;
      moves += more;
      isDouble &= more == 0 || operand.slots() == 2;
      if (isLoad) {
        longestLoad = Math.max(longestLoad, lastLoad);
        lastLoad = cycles;
        loading += more * cycles;
      } else {
        stores += cycles;
        storing += more * cycles;
      }
    }
    return new LoopFeatures(
        loop.tiles(),
        operands,
        boxes,
        moves,
        lastLoad,
        longestLoad,
        stores,
        Math.max(loading, storing),
        isDouble);
  }

  private static DmaChannel channel(ChipKind chip, boolean isLoad) {
    String near = chip.working().name();
    String far = chip.resident().name();
    return chip.channel(isLoad ? far : near, isLoad ? near : far).orElseThrow();
  }

  /** Returns the number of moved tiles of an operand. */
  private static long moves(TileOperand operand, TiledKernel loop) {
    long moves = 1;
    long around = 1;
    for (int axis = 0; axis < loop.axes().size(); axis++) {
      around *= loop.axes().get(axis).count();
      for (BoxDimension each : operand.box()) {
        if (each.start().dependsOn(axis) || each.size().dependsOn(axis)) {
          moves = around;
        }
      }
    }
    return moves;
  }
}
