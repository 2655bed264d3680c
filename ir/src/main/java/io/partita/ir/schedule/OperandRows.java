package io.partita.ir.schedule;

import java.util.Arrays;

/** The bytes of an operand of a loop as rows of adjacent bytes, in row-major order. */
final class OperandRows {
  private final TileOperand operand;
  private final long offset;
  private final int rank;
  private final long rowElements;

  /**
   * @param offset of the operand in its memory, in bytes
   */
  OperandRows(TileOperand operand, long offset) {
    this.operand = operand;
    this.offset = offset;
    int outer = operand.box().size();
    long elements = 1;
    while (outer > 0 && contiguous(operand.box().get(outer - 1), elements)) {
      elements *= operand.box().get(--outer).extent();
    }
    this.rank = outer;
    this.rowElements = elements;
  }

  /** Takes a row. */
  interface Row {
    void at(long offset, long bytes);
  }

  private static boolean contiguous(BoxDimension dimension, long within) {
    return dimension.extent() == 1 || dimension.stride() == within;
  }

  private long bytes(long elements) {
    return operand.bytes(elements);
  }

  /** Whether both may share a byte of the same memory; exact if both have the same rows. */
  boolean meets(OperandRows other) {
    if (end() <= other.offset || other.end() <= offset) {
      return false;
    }
    boolean[] mine = new boolean[(int) (end() - offset)];
    each((at, size) -> Arrays.fill(mine, (int) (at - offset), (int) (at + size - offset), true));
    boolean[] found = new boolean[1];
    other.each(
        (at, size) -> {
          for (long each = Math.max(at, offset); each < Math.min(at + size, end()); each++) {
            found[0] |= mine[(int) (each - offset)];
          }
        });
    return found[0];
  }

  /** Returns the offset behind the last byte. */
  long end() {
    long last = 0;
    for (BoxDimension dimension : operand.box()) {
      last += (dimension.extent() - 1) * dimension.stride();
    }
    return offset + bytes(last + 1);
  }

  void each(Row row) {
    each(0, 0, row);
  }

  private void each(int dimension, long elements, Row row) {
    if (dimension == rank) {
      row.at(offset + bytes(elements), bytes(rowElements));
      return;
    }
    BoxDimension one = operand.box().get(dimension);
    long indices = one.stride() == 0 ? 1 : one.extent();
    for (long i = 0; i < indices; i++) {
      each(dimension + 1, elements + i * one.stride(), row);
    }
  }
}
