package io.partita.ir.schedule.eval;

import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.kernel.TileExpression;
import java.util.Arrays;
import java.util.List;

/** The tile of an operand in the home memory, as lines of adjacent bytes in row-major order. */
final class BoxLines {
  private final List<BoxDimension> box;
  private final TileOperand operand;
  private final long[] sizes;
  private final Line line;

  /** Takes a line. */
  @FunctionalInterface
  interface Line {
    void at(long from, int bytes);
  }

  private BoxLines(TileOperand operand, TileExpression.Tile tile, Line line) {
    this.box = operand.box();
    this.operand = operand;
    this.sizes = box.stream().mapToLong(dimension -> dimension.size().at(tile)).toArray();
    this.line = line;
  }

  /**
   * @param place the address of the tile's first element
   */
  static void each(TileOperand operand, TileExpression.Tile tile, long place, Line line) {
    BoxLines lines = new BoxLines(operand, tile, line);
    if (Arrays.stream(lines.sizes).noneMatch(size -> size == 0)) {
      lines.each(place);
    }
  }

  private void each(long place) {
    long count = 1;
    int outer = sizes.length;
    while (outer > 0 && (sizes[outer - 1] == 1 || box.get(outer - 1).stride() == count)) {
      count *= sizes[--outer];
    }
    each(0, outer, place, Math.toIntExact(operand.bytes(count)));
  }

  private void each(int dimension, int outer, long place, int bytes) {
    if (dimension == outer) {
      line.at(place, bytes);
      return;
    }
    long stride = operand.bytes(box.get(dimension).stride());
    for (long i = 0; i < sizes[dimension]; i++) {
      each(dimension + 1, outer, place + i * stride, bytes);
    }
  }
}
