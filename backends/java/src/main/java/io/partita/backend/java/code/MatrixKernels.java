package io.partita.backend.java.code;

/**
 * Matrix products: a tile of 16 rows and 256 columns of the right operand is read once for 64 rows
 * of the left one.
 *
 * <p>C2 vectorises a loop over several arrays only if all indices are the loop variable plus a
 * constant, hence the copies into tiles, which are four arrays of four rows each.
 */
final class MatrixKernels {
  private MatrixKernels() {}

  /** The width is a constant; otherwise C2's inlined loop is half as fast. */
  private static final Kernel ADD_ROWS =
      Kernel.of(
          "sum += x0 row0 + x1 row1 + x2 row2 + x3 row3, the rows of a whole tile.",
          """
          static void addRows(real[] sum, real[] tile, real x0, real x1, real x2, real x3) {
            for (int j = 0; j < 256; j++) {
              sum[j] += x0 * tile[j] + x1 * tile[256 + j] + x2 * tile[512 + j] + x3 * tile[768 + j];
            }
          }
          """);

  private static final Kernel ADD_ROWS_TWICE =
      Kernel.of(
          "The same for two sums, which share the loads of a tile's elements.",
          """
          static void addRowsTwice(real[] sumX, real[] sumY, real[] tile, real x0, real x1, real x2, real x3, real y0, real y1, real y2, real y3) {
            for (int j = 0; j < 256; j++) {
              real t0 = tile[j];
              real t1 = tile[256 + j];
              real t2 = tile[512 + j];
              real t3 = tile[768 + j];
              sumX[j] += x0 * t0 + x1 * t1 + x2 * t2 + x3 * t3;
              sumY[j] += y0 * t0 + y1 * t1 + y2 * t2 + y3 * t3;
            }
          }
          """);

  private static final Kernel ADD_NARROW_ROWS =
      Kernel.of(
          "sum += x0 row0 + x1 row1 + x2 row2 + x3 row3 for a tile's first columns.",
          """
          static void addNarrowRows(real[] sum, real[] tile, int width, real x0, real x1, real x2, real x3) {
            for (int j = 0; j < width; j++) {
              sum[j] += x0 * tile[j] + x1 * tile[256 + j] + x2 * tile[512 + j] + x3 * tile[768 + j];
            }
          }
          """);

  static final Kernel ADD_PRODUCTS =
      Kernel.of(
          "sums += x * tiles for rows of x; if depth is no multiple of 4, the tiles are padded with zeros.",
          """
          static void addProducts(real[][] sums, int rows, real[][] tiles, int depth, int width, real[] x, int at, int stride) {
            for (int k = 0; k < depth; k += 4) {
              real[] tile = tiles[k / 4];
              boolean isWhole = width == 256 && k + 4 <= depth;
              int row = 0;
              for (; isWhole && row + 2 <= rows; row += 2) {
                int i = at + row * stride + k;
                int j = i + stride;
                addRowsTwice(sums[row], sums[row + 1], tile, x[i], x[i + 1], x[i + 2], x[i + 3], x[j], x[j + 1], x[j + 2], x[j + 3]);
              }
              for (; row < rows; row++) {
                int i = at + row * stride + k;
                if (isWhole) {
                  addRows(sums[row], tile, x[i], x[i + 1], x[i + 2], x[i + 3]);
                } else {
                  addNarrowRows(sums[row], tile, width, x[i], k + 1 < depth ? x[i + 1] : 0, k + 2 < depth ? x[i + 2] : 0, k + 3 < depth ? x[i + 3] : 0);
                }
              }
            }
          }
          """,
          ADD_ROWS,
          ADD_ROWS_TWICE,
          ADD_NARROW_ROWS);

  static final Kernel COPY_TILES =
      Kernel.of(
          "Copies rows into tiles, padded with zeros to a multiple of 4 rows.",
          """
          static void copyTiles(real[] from, int at, int stride, real[][] tiles, int depth, int width) {
            for (int k = 0; k < depth; k++) {
              System.arraycopy(from, at + k * stride, tiles[k / 4], k % 4 * 256, width);
            }
            for (int k = depth; k % 4 != 0; k++) {
              Arrays.fill(tiles[k / 4], k % 4 * 256, k % 4 * 256 + width, 0);
            }
          }
          """);

  private static final Kernel READ_TILES =
      Kernel.of(
          "Reads rows of a panel into tiles, padded with zeros to a multiple of 4 rows.",
          """
          void readTiles@(long at, real[][] tiles, int depth, int width) {
            for (int k = 0; k < depth; k += 4) {
              int count = Math.min(4, depth - k);
              if (width == 256) {
                read@(at + k * width, tiles[k / 4], 0, count * width);
              } else {
                for (int row = 0; row < count; row++) {
                  read@(at + (k + row) * width, tiles[k / 4], row * 256, width);
                }
              }
              Arrays.fill(tiles[k / 4], count * 256, 1024, 0);
            }
          }
          """);

  /** A sum of 512 products of bytes is below 2^24 in magnitude, so floats represent it exactly. */
  static final Kernel INTEGER_LINEAR =
      Kernel.of(
          "y[rows, out] = x[rows, in] * weight in 32 bits, like linear, 0 where in is 0; a float holds the sum of 512 products of bytes exactly.",
          """
          void integerLinear@(float[] x, int rows, int in, long weight, int out, int[] y) {
            for (int column = 0; column < out; column += 256) {
              int width = Math.min(256, out - column);
              long panel = weight + (long) column * in;
              for (int first = 0; first < rows; first += 64) {
                int block = Math.min(64, rows - first);
                for (int start = 0; start == 0 || start < in; start += 512) {
                  for (int r = 0; r < block; r++) {
                    Arrays.fill(SUMS[r], 0, width, 0);
                  }
                  for (int i = start; i < Math.min(in, start + 512); i += 16) {
                    int depth = Math.min(16, in - i);
                    readTiles@(panel + (long) i * width, TILES, depth, width);
                    addProducts(SUMS, block, TILES, depth, width, x, first * in + i, in);
                  }
                  for (int r = 0; r < block; r++) {
                    addSums(SUMS[r], y, (first + r) * out + column, width, start == 0);
                  }
                }
              }
            }
          }
          """,
          ADD_PRODUCTS,
          READ_TILES,
          Kernel.of(
              "Adds sums to integers, or stores them.",
              """
              static void addSums(float[] sums, int[] y, int at, int width, boolean first) {
                for (int j = 0; j < width; j++) {
                  y[at + j] = (int) sums[j] + (first ? 0 : y[at + j]);
                }
              }
              """));

  static final Kernel LINEAR =
      Kernel.of(
          "y[rows, out] = x[rows, in] * weight + bias; the weight is streamed from the weights file in panels of 256 columns.",
          """
          void linear@(real[] x, int rows, int in, long weight, int out, real[] bias, real[] y) {
            for (int column = 0; column < out; column += 256) {
              int width = Math.min(256, out - column);
              long panel = weight + (long) column * in;
              for (int first = 0; first < rows; first += 64) {
                int block = Math.min(64, rows - first);
                for (int r = 0; r < block; r++) {
                  if (bias == null) {
                    Arrays.fill(SUMS[r], 0, width, 0);
                  } else {
                    System.arraycopy(bias, column, SUMS[r], 0, width);
                  }
                }
                for (int i = 0; i < in; i += 16) {
                  int depth = Math.min(16, in - i);
                  readTiles@(panel + (long) i * width, TILES, depth, width);
                  addProducts(SUMS, block, TILES, depth, width, x, first * in + i, in);
                }
                for (int r = 0; r < block; r++) {
                  System.arraycopy(SUMS[r], 0, y, (first + r) * out + column, width);
                }
              }
            }
          }
          """,
          ADD_PRODUCTS,
          READ_TILES);

  static final Kernel MATMUL =
      Kernel.of(
          "y[rows, out] = a[rows, in] * b[in, out], each from an offset in its array, with a row stride.",
          """
          void matmul(real[] a, int aAt, int aStride, real[] b, int bAt, int bStride, real[] y, int yAt, int yStride, int rows, int in, int out) {
            for (int column = 0; column < out; column += 256) {
              int width = Math.min(256, out - column);
              for (int first = 0; first < rows; first += 64) {
                int block = Math.min(64, rows - first);
                for (int r = 0; r < block; r++) {
                  Arrays.fill(SUMS[r], 0, width, 0);
                }
                for (int i = 0; i < in; i += 16) {
                  int depth = Math.min(16, in - i);
                  copyTiles(b, bAt + i * bStride + column, bStride, TILES, depth, width);
                  addProducts(SUMS, block, TILES, depth, width, a, aAt + first * aStride + i, aStride);
                }
                for (int r = 0; r < block; r++) {
                  System.arraycopy(SUMS[r], 0, y, yAt + (first + r) * yStride + column, width);
                }
              }
            }
          }
          """,
          ADD_PRODUCTS,
          COPY_TILES);

  static final Kernel TRANSPOSE =
      Kernel.of(
          "y[columns, rows] = x[rows, columns] from an offset, in blocks that fit the cache.",
          """
          static void transpose(real[] x, int at, int rows, int columns, real[] y) {
            for (int row = 0; row < rows; row += 32) {
              for (int column = 0; column < columns; column += 32) {
                for (int r = row; r < Math.min(rows, row + 32); r++) {
                  for (int c = column; c < Math.min(columns, column + 32); c++) {
                    y[c * rows + r] = x[at + r * columns + c];
                  }
                }
              }
            }
          }
          """);

  static final Kernel WIDEN_HALVES = widen("Half", ScalarKernels.FROM_HALF);
  static final Kernel WIDEN_BFLOATS = widen("Bfloat", ScalarKernels.FROM_BFLOAT);
  static final Kernel NARROW_HALVES = narrow("Half", ScalarKernels.TO_HALF);
  static final Kernel NARROW_BFLOATS = narrow("Bfloat", ScalarKernels.TO_BFLOAT_FROM_FLOAT);

  static final Kernel ROUND_HALVES = round("Half", ScalarKernels.TO_HALF, ScalarKernels.FROM_HALF);
  static final Kernel ROUND_BFLOATS =
      round("Bfloat", ScalarKernels.TO_BFLOAT_FROM_FLOAT, ScalarKernels.FROM_BFLOAT);

  private static Kernel round(String format, Kernel to, Kernel from) {
    String text =
        """
        static void round%1$s(float[] x, int count) {
          for (int i = 0; i < count; i++) {
            x[i] = (float) from%1$s(to%1$s(x[i]));
          }
        }
        """;
    return Kernel.of(
        "Rounds floats to values that 16 bits can represent.", text.formatted(format), to, from);
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
    return Kernel.of("Widens 16-bit floats to floats.", text.formatted(format), from);
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
    return Kernel.of("Rounds floats to 16-bit floats.", text.formatted(format), to);
  }
}
