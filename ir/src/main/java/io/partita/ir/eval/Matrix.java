package io.partita.ir.eval;

import io.partita.ir.tensor.Float16;
import io.partita.ir.tensor.Tensor;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A matrix in a tensor, which is read in panels and never copied as a whole.
 *
 * @param data the elements
 * @param start the offset of the first element
 * @param rows the rows of the matrix, even if it is stored transposed
 * @param columns the columns of the matrix
 * @param transposed whether it is stored by columns
 */
record Matrix(Tensor data, long start, int rows, int columns, boolean transposed) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Reads elements of a float type as floats to {@code into[r][c]}, exact except for f64. */
  void read(int row, int rowCount, int column, int columnCount, float[][] into) {
    if (!transposed) {
      for (int r = 0; r < rowCount; r++) {
        readRun(start + (long) (row + r) * columns + column, into[r], columnCount);
      }
      return;
    }
    float[] line = new float[rowCount];
    for (int c = 0; c < columnCount; c++) {
      readRun(start + (long) (column + c) * rows + row, line, rowCount);
      for (int r = 0; r < rowCount; r++) {
        into[r][c] = line[r];
      }
    }
  }

  /** Reads contiguous elements of a float type as floats. */
  void readRun(long from, float[] into, int count) {
    switch (data.element()) {
      case F32 -> data.readFloats(from, into, 0, count);
      case F16 -> {
        for (int i = 0; i < count; i++) {
          into[i] = Float.float16ToFloat(data.bytes().getAtIndex(SHORT, from + i));
        }
      }
      case BF16 -> {
        for (int i = 0; i < count; i++) {
          into[i] = Float16.fromBfloat(data.bytes().getAtIndex(SHORT, from + i));
        }
      }
      case F64, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL ->
          throw new IllegalStateException("not a narrow float: " + data.type());
    }
  }

  /** Reads the lower 32 bits of the elements of an integer type. */
  void read(int row, int rowCount, int column, int columnCount, int[][] into) {
    for (int r = 0; r < rowCount; r++) {
      for (int c = 0; c < columnCount; c++) {
        into[r][c] = (int) data.getLong(index(row + r, column + c));
      }
    }
  }

  double[] doubleRow(int row) {
    double[] values = new double[columns];
    for (int c = 0; c < columns; c++) {
      values[c] = data.getDouble(index(row, c));
    }
    return values;
  }

  long[] longRow(int row) {
    long[] values = new long[columns];
    for (int c = 0; c < columns; c++) {
      values[c] = data.getLong(index(row, c));
    }
    return values;
  }

  private int index(int row, int column) {
    return (int)
        (start + (transposed ? (long) column * rows + row : (long) row * columns + column));
  }
}
