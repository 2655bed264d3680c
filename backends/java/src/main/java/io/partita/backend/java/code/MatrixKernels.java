package io.partita.backend.java.code;

/** Products of matrices, four rows of a tile of 256 columns at a time. */
final class MatrixKernels {
  private MatrixKernels() {}

  /** The inner loop of all products; C2 vectorises it, as it does no sum over {@code j}. */
  private static final Kernel ADD_ROWS =
      Kernel.of(
          "sum += x0 row0 + x1 row1 + x2 row2 + x3 row3 over the 256 columns of a tile.",
          """
          static void addRows(real[] sum, real[] tile, real x0, real x1, real x2, real x3) {
            for (int j = 0; j < 256; j++) {
              sum[j] += x0 * tile[j] + x1 * tile[256 + j] + x2 * tile[512 + j] + x3 * tile[768 + j];
            }
          }
          """);

  static final Kernel ADD_NARROW_ROWS =
      Kernel.of(
          "sum += x0 row0 + x1 row1 + ... for any number of columns and rows of a tile.",
          """
          static void addNarrowRows(real[] sum, real[] tile, int width, real[] x, int at, int rows) {
            int i = 0;
            for (; i + 4 <= rows; i += 4) {
              real x0 = x[at + i];
              real x1 = x[at + i + 1];
              real x2 = x[at + i + 2];
              real x3 = x[at + i + 3];
              int row0 = i * width;
              int row1 = row0 + width;
              int row2 = row1 + width;
              int row3 = row2 + width;
              for (int j = 0; j < width; j++) {
                sum[j] += x0 * tile[row0 + j] + x1 * tile[row1 + j] + x2 * tile[row2 + j] + x3 * tile[row3 + j];
              }
            }
            for (; i < rows; i++) {
              real x0 = x[at + i];
              int row0 = i * width;
              for (int j = 0; j < width; j++) {
                sum[j] += x0 * tile[row0 + j];
              }
            }
          }
          """);

  static final Kernel LINEAR =
      Kernel.of(
          "y[rows, out] = x[rows, in] * weight + bias; the weight streams from the side file in panels of 256 columns.",
          """
          void linear@(real[] x, int rows, int in, long weight, int out, real[] bias, real[] y) {
            real[][] sums = SUMS;
            real[] tile = TILE;
            for (int column = 0; column < out; column += 256) {
              int width = Math.min(256, out - column);
              long panel = weight + (long) column * in;
              for (int first = 0; first < rows; first += 16) {
                int block = Math.min(16, rows - first);
                for (int r = 0; r < block; r++) {
                  if (bias == null) {
                    Arrays.fill(sums[r], 0, width, 0);
                  } else {
                    System.arraycopy(bias, column, sums[r], 0, width);
                  }
                }
                for (int i = 0; i < in; i += 4) {
                  int depth = Math.min(4, in - i);
                  read@(panel + (long) i * width, tile, 0, depth * width);
                  for (int r = 0; r < block; r++) {
                    int at = (first + r) * in + i;
                    if (depth == 4 && width == 256) {
                      addRows(sums[r], tile, x[at], x[at + 1], x[at + 2], x[at + 3]);
                    } else {
                      addNarrowRows(sums[r], tile, width, x, at, depth);
                    }
                  }
                }
                for (int r = 0; r < block; r++) {
                  System.arraycopy(sums[r], 0, y, (first + r) * out + column, width);
                }
              }
            }
          }
          """,
          ADD_ROWS,
          ADD_NARROW_ROWS);

  static final Kernel MATMUL =
      Kernel.of(
          "y[rows, out] = a[rows, in] * b[in, out], each from an offset in its array.",
          """
          void matmul(real[] a, int aAt, real[] b, int bAt, real[] y, int yAt, int rows, int in, int out) {
            real[][] sums = SUMS;
            real[] tile = TILE;
            for (int column = 0; column < out; column += 256) {
              int width = Math.min(256, out - column);
              for (int first = 0; first < rows; first += 16) {
                int block = Math.min(16, rows - first);
                for (int r = 0; r < block; r++) {
                  Arrays.fill(sums[r], 0, width, 0);
                }
                for (int i = 0; i < in; i += 4) {
                  int depth = Math.min(4, in - i);
                  for (int d = 0; d < depth; d++) {
                    System.arraycopy(b, bAt + (i + d) * out + column, tile, d * width, width);
                  }
                  for (int r = 0; r < block; r++) {
                    int at = aAt + (first + r) * in + i;
                    if (depth == 4 && width == 256) {
                      addRows(sums[r], tile, a[at], a[at + 1], a[at + 2], a[at + 3]);
                    } else {
                      addNarrowRows(sums[r], tile, width, a, at, depth);
                    }
                  }
                }
                for (int r = 0; r < block; r++) {
                  System.arraycopy(sums[r], 0, y, yAt + (first + r) * out + column, width);
                }
              }
            }
          }
          """,
          ADD_ROWS,
          ADD_NARROW_ROWS);

  static final Kernel TRANSPOSE =
      Kernel.of(
          "y[columns, rows] = x[rows, columns], in blocks that stay in cache.",
          """
          static void transpose(real[] x, int rows, int columns, real[] y) {
            for (int row = 0; row < rows; row += 32) {
              for (int column = 0; column < columns; column += 32) {
                for (int r = row; r < Math.min(rows, row + 32); r++) {
                  for (int c = column; c < Math.min(columns, column + 32); c++) {
                    y[c * rows + r] = x[r * columns + c];
                  }
                }
              }
            }
          }
          """);

  static final Kernel WIDEN_HALVES = widen("Half", ScalarKernels.FROM_HALF);
  static final Kernel WIDEN_BFLOATS = widen("Bfloat", ScalarKernels.FROM_BFLOAT);
  static final Kernel NARROW_HALVES = narrow("Half", ScalarKernels.TO_HALF);
  static final Kernel NARROW_BFLOATS = narrow("Bfloat", ScalarKernels.TO_BFLOAT);

  static final Kernel ROUND_HALVES = round("Half", ScalarKernels.TO_HALF, ScalarKernels.FROM_HALF);
  static final Kernel ROUND_BFLOATS =
      round("Bfloat", ScalarKernels.TO_BFLOAT, ScalarKernels.FROM_BFLOAT);

  private static Kernel round(String format, Kernel to, Kernel from) {
    String text =
        """
        static void round%1$s(float[] x, int count) {
          for (int i = 0; i < count; i++) {
            x[i] = (float) from%1$s(to%1$s(x[i]));
          }
        }
        """;
    return Kernel.of("Rounds floats to what 16 bits can hold.", text.formatted(format), to, from);
  }

  private static Kernel widen(String format, Kernel from) {
    String text =
        """
        static void widen%1$s(short[] from, int count, float[] to) {
          for (int i = 0; i < count; i++) {
            to[i] = (float) from%1$s(from[i]);
          }
        }
        """;
    return Kernel.of("Makes floats of 16-bit ones.", text.formatted(format), from);
  }

  private static Kernel narrow(String format, Kernel to) {
    String text =
        """
        static void narrow%1$s(float[] from, int count, short[] to) {
          for (int i = 0; i < count; i++) {
            to[i] = to%1$s(from[i]);
          }
        }
        """;
    return Kernel.of("Rounds floats to 16 bits.", text.formatted(format), to);
  }
}
