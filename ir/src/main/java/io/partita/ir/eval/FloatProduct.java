package io.partita.ir.eval;

/**
 * The product of two matrices of f32 or narrower floats with f32 sums.
 *
 * <p>Each sum is computed strictly in ascending order of the inner index, with one rounding for
 * each product and each addition, so that results are independent of blocks and threads.
 */
final class FloatProduct {
  /** The rows of the left and the columns of the right operand of one task. */
  private static final int BLOCK_ROWS = 128;

  private static final int BLOCK_COLUMNS = 256;

  /** The inner indices of a panel, which, with the columns of a block in f32, fits an L2 cache. */
  private static final int PANEL = 256;

  /**
   * The inner indices of a panel whose elements are used only a few times, which fits an L1 cache.
   */
  private static final int SHALLOW_PANEL = 16;

  /** The number of rows up to which a transposed right operand is read in place. */
  private static final int FEW_ROWS = 4;

  private final Matrix left;
  private final Matrix right;
  private final float[] out;
  private final int outStart;
  private final int inner;

  private FloatProduct(Matrix left, Matrix right, float[] out, int outStart) {
    this.left = left;
    this.right = right;
    this.out = out;
    this.outStart = outStart;
    this.inner = left.columns();
  }

  /** Writes {@code left right} in row-major order to {@code out}, beginning at {@code outStart}. */
  static void multiply(Matrix left, Matrix right, float[] out, int outStart) {
    FloatProduct product = new FloatProduct(left, right, out, outStart);
    int blockRows = (left.rows() + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int blockColumns = (right.columns() + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    boolean dots = right.transposed() && left.rows() <= FEW_ROWS;
    ParallelTasks.run(
        blockRows * blockColumns,
        (long) left.rows() * right.columns() * left.columns(),
        task -> {
          int row = task / blockColumns * BLOCK_ROWS;
          int column = task % blockColumns * BLOCK_COLUMNS;
          int rows = Math.min(BLOCK_ROWS, left.rows() - row);
          int columns = Math.min(BLOCK_COLUMNS, right.columns() - column);
          if (dots) {
            product.dots(rows, column, columns);
          } else {
            product.block(row, rows, column, columns);
          }
        });
  }

  private void block(int row, int rows, int column, int columns) {
    float[][] sums = new float[rows][columns];
    int panel = rows <= FEW_ROWS ? SHALLOW_PANEL : PANEL;
    int deepest = Math.min(panel, inner);
    float[][] leftPanel = new float[rows][deepest];
    float[][] rightPanel = new float[deepest][columns];
    for (int k = 0; k < inner; k += panel) {
      int depth = Math.min(panel, inner - k);
      left.read(row, rows, k, depth, leftPanel);
      right.read(k, depth, column, columns, rightPanel);
      for (int i = 0; i < rows; i++) {
        accumulate(sums[i], leftPanel[i], rightPanel, depth);
      }
    }
    for (int i = 0; i < rows; i++) {
      int to = outStart + (row + i) * right.columns() + column;
      System.arraycopy(sums[i], 0, out, to, columns);
    }
  }

  private static void accumulate(float[] sums, float[] factors, float[][] panel, int depth) {
    int k = 0;
    for (; k + 8 <= depth; k += 8) {
      axpy8(sums, factors, k, panel);
    }
    for (; k < depth; k++) {
      axpy(sums, factors[k], panel[k]);
    }
  }

  private static void axpy8(float[] sums, float[] factors, int k, float[][] panel) {
    float f0 = factors[k];
    float f1 = factors[k + 1];
    float f2 = factors[k + 2];
    float f3 = factors[k + 3];
    float f4 = factors[k + 4];
    float f5 = factors[k + 5];
    float f6 = factors[k + 6];
    float f7 = factors[k + 7];
    float[] b0 = panel[k];
    float[] b1 = panel[k + 1];
    float[] b2 = panel[k + 2];
    float[] b3 = panel[k + 3];
    float[] b4 = panel[k + 4];
    float[] b5 = panel[k + 5];
    float[] b6 = panel[k + 6];
    float[] b7 = panel[k + 7];
    for (int j = 0; j < sums.length; j++) {
      sums[j] =
          sums[j]
              + f0 * b0[j]
              + f1 * b1[j]
              + f2 * b2[j]
              + f3 * b3[j]
              + f4 * b4[j]
              + f5 * b5[j]
              + f6 * b6[j]
              + f7 * b7[j];
    }
  }

  private static void axpy(float[] sums, float factor, float[] line) {
    for (int j = 0; j < sums.length; j++) {
      sums[j] += factor * line[j];
    }
  }

  /** Computes all rows of the left operand with contiguous columns. */
  private void dots(int rows, int column, int columns) {
    float[][] lines = new float[8][inner];
    float[][] factors = new float[rows][inner];
    left.read(0, rows, 0, inner, factors);
    for (int c = 0; c < columns; c += 8) {
      int count = Math.min(8, columns - c);
      for (int i = 0; i < count; i++) {
        right.readRun(right.start() + (long) (column + c + i) * inner, lines[i], inner);
      }
      for (int i = 0; i < rows; i++) {
        dot8(factors[i], lines, count, outStart + i * right.columns() + column + c);
      }
    }
  }

  /** Computes eight independent sums at a time, or the last {@code count}. */
  private void dot8(float[] x, float[][] lines, int count, int to) {
    float[] l0 = lines[0];
    float[] l1 = lines[1];
    float[] l2 = lines[2];
    float[] l3 = lines[3];
    float[] l4 = lines[4];
    float[] l5 = lines[5];
    float[] l6 = lines[6];
    float[] l7 = lines[7];
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    float s4 = 0;
    float s5 = 0;
    float s6 = 0;
    float s7 = 0;
    for (int k = 0; k < x.length; k++) {
      float factor = x[k];
      s0 += factor * l0[k];
      s1 += factor * l1[k];
      s2 += factor * l2[k];
      s3 += factor * l3[k];
      s4 += factor * l4[k];
      s5 += factor * l5[k];
      s6 += factor * l6[k];
      s7 += factor * l7[k];
    }
    float[] sums = {s0, s1, s2, s3, s4, s5, s6, s7};
    System.arraycopy(sums, 0, out, to, count);
  }
}
