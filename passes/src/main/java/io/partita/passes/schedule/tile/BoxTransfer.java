package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.Packing;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.target.DmaChannel;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * The transfer of a box of a tensor: lines with a constant stride or, if the stride isn't constant,
 * several such transfers.
 *
 * @param bytes the bytes of the whole box
 * @param lines the lines of one transfer
 */
public record BoxTransfer(long bytes, long lines, long transfers) {
  /** Returns the transfer of one tile; contiguous dimensions are merged. */
  public static BoxTransfer of(
      ElementType element, Packing packing, List<BoxDimension> box, TileExpression.Tile tile) {
    long line = 1;
    long lines = 1;
    long stride = 0;
    long transfers = 1;
    for (int i = box.size() - 1; i >= 0; i--) {
      long size = box.get(i).size().at(tile);
      long own = box.get(i).stride();
      if (size == 1) {
        continue;
      }
      if (transfers == 1 && lines == 1 && own == line) {
        line *= size;
      } else if (transfers == 1 && (lines == 1 || own == lines * stride)) {
        stride = lines == 1 ? own : stride;
        lines *= size;
      } else {
        transfers *= size;
      }
    }
    long bytes = packing.bytes(element, List.of(lines * transfers, line));
    return new BoxTransfer(bytes, lines, transfers);
  }

  /** Returns whether the box is a single line. */
  public boolean isLine() {
    return lines == 1 && transfers == 1;
  }

  /** Returns the cycles of the channel and of the core that starts the transfers. */
  public double cycles(DmaChannel channel) {
    return transferCycles(channel) + (isLine() ? 0 : channel.boxCycles());
  }

  /** Returns the cycles without those of a core to divide a box into lines. */
  public double transferCycles(DmaChannel channel) {
    long limit = channel.limitBytes().orElse(Long.MAX_VALUE);
    long pieces = transfers * Math.max(1, Math.ceilDiv(bytes / transfers, limit));
    return pieces * channel.issueCycles()
        + channel.setupCycles()
        + bytes / channel.bytesPerCycle()
        + (lines == 1 ? 0 : lines * transfers * channel.lineCycles());
  }
}
