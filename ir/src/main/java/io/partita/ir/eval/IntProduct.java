package io.partita.ir.eval;

/** The product of two integer matrices with 32-bit sums, which wrap. */
final class IntProduct {
  private static final int BLOCK_ROWS = 128;
  private static final int BLOCK_COLUMNS = 256;
  private static final int PANEL = 256;

  private IntProduct() {}

  /** Writes {@code left right} in row-major order to {@code out}, beginning at {@code outStart}. */
  static void multiply(Matrix left, Matrix right, int[] out, int outStart) {
    int blockRows = (left.rows() + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int blockColumns = (right.columns() + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    ParallelTasks.run(
        blockRows * blockColumns,
        (long) left.rows() * right.columns() * left.columns(),
        task -> {
          int row = task / blockColumns * BLOCK_ROWS;
          int column = task % blockColumns * BLOCK_COLUMNS;
          int[][] sums = block(left, right, row, column);
          for (int i = 0; i < sums.length; i++) {
            int to = outStart + (row + i) * right.columns() + column;
            System.arraycopy(sums[i], 0, out, to, sums[i].length);
          }
        });
  }

  private static int[][] block(Matrix left, Matrix right, int row, int column) {
    int rows = Math.min(BLOCK_ROWS, left.rows() - row);
    int columns = Math.min(BLOCK_COLUMNS, right.columns() - column);
    int inner = left.columns();
    int deepest = Math.min(PANEL, inner);
    int[][] sums = new int[rows][columns];
    int[][] leftPanel = new int[rows][deepest];
    int[][] rightPanel = new int[deepest][columns];
    for (int k = 0; k < inner; k += PANEL) {
      int depth = Math.min(PANEL, inner - k);
      left.read(row, rows, k, depth, leftPanel);
      right.read(k, depth, column, columns, rightPanel);
      for (int i = 0; i < rows; i++) {
        accumulate(sums[i], leftPanel[i], rightPanel, depth);
      }
    }
    return sums;
  }

  private static void accumulate(int[] sums, int[] factors, int[][] panel, int depth) {
    int k = 0;
    for (; k + 4 <= depth; k += 4) {
      axpy4(sums, factors, k, panel);
    }
    for (; k < depth; k++) {
      int factor = factors[k];
      int[] line = panel[k];
      for (int j = 0; j < sums.length; j++) {
        sums[j] += factor * line[j];
      }
    }
  }

  private static void axpy4(int[] sums, int[] factors, int k, int[][] panel) {
    int f0 = factors[k];
    int f1 = factors[k + 1];
    int f2 = factors[k + 2];
    int f3 = factors[k + 3];
    int[] b0 = panel[k];
    int[] b1 = panel[k + 1];
    int[] b2 = panel[k + 2];
    int[] b3 = panel[k + 3];
    for (int j = 0; j < sums.length; j++) {
      sums[j] += f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j];
    }
  }
}
