package io.partita.ir.tensor;

/**
 * How a matrix of signed 4-bit integers with groups of rows is stored: in the order in which
 * kernels stream it, two columns in a byte.
 *
 * <p>A panel has 8 columns, and a panel's group is {@code 4 rows} bytes: 16 bytes for every 4 rows,
 * of which each 4 bytes are these rows of 2 columns. The upper nibble is the second column's
 * integer in two's complement; the lower one is the first column's plus 8. So the sum of a row's
 * products with signed bytes is {@code 16 upper + lower + 8 Σ x}, and that with the lower nibbles
 * {@code lower + 8 Σ x}: masking is all that kernels have to unpack.
 */
public final class NibblePanels {
  /** The columns of a panel. */
  public static final int COLUMNS = 8;

  /** Groups have a multiple of so many rows. */
  public static final int GRANULE = 8;

  /** The largest group, whose sums of products with bytes are exact in f32. */
  private static final int MOST_ROWS = 1 << 13;

  /** The rows whose bytes of a pair of columns are adjacent. */
  private static final int TOGETHER = 4;

  private static final int MIDDLE = 8;
  private static final int LOW = 15;

  private NibblePanels() {}

  /** Whether groups of so many rows can be stored. */
  public static boolean isGroup(long rows) {
    return rows > 0 && rows <= MOST_ROWS && rows % GRANULE == 0;
  }

  /** Returns the bytes of a panel's group of so many rows. */
  public static long bytes(long rows) {
    return rows * COLUMNS / 2;
  }

  /** Returns the rows of a group from the bytes of a panel's. */
  public static long rows(long bytes) {
    return bytes * 2 / COLUMNS;
  }

  private static int place(int row, int column) {
    return row / TOGETHER * TOGETHER * COLUMNS / 2 + column / 2 * TOGETHER + row % TOGETHER;
  }

  /** An integer from -8 to 7 of a matrix. */
  @FunctionalInterface
  public interface Matrix {
    int at(int row, int column);
  }

  /**
   * Packs a matrix; columns that fill the last panel are zeros.
   *
   * @param rows the rows of all groups
   * @param group the rows of a group
   */
  public static byte[] pack(Matrix matrix, int rows, int columns, int group) {
    int panels = Math.ceilDiv(columns, COLUMNS);
    int size = (int) bytes(group);
    byte[] codes = new byte[panels * (rows / group) * size];
    for (int panel = 0; panel < panels; panel++) {
      for (int row = 0; row < rows; row++) {
        int from = (panel * (rows / group) + row / group) * size;
        for (int column = 0; column < COLUMNS; column += 2) {
          int first = panel * COLUMNS + column;
          int low = first < columns ? matrix.at(row, first) : 0;
          int high = first + 1 < columns ? matrix.at(row, first + 1) : 0;
          codes[from + place(row % group, column)] = (byte) (high << 4 | low + MIDDLE);
        }
      }
    }
    return codes;
  }

  /**
   * Returns an integer of a panel's group.
   *
   * @param from the index of the group's first byte
   * @param column the column in the panel
   */
  public static int at(byte[] codes, int from, int row, int column) {
    byte code = codes[from + place(row, column)];
    return column % 2 == 0 ? (code & LOW) - MIDDLE : code >> 4;
  }
}
