package io.partita.frontend.onnx.quantize;

import io.partita.ir.tensor.Float16;

/**
 * A matrix {@code [rows, columns]} of signed integers with a scale for each column and group of
 * rows. Scales of groups are numbers of bf16, so that programs may store them in 16 bits.
 *
 * @param values the integers, row-major
 * @param scales {@code [rows / group, columns]}, row-major
 * @param bits the width of an integer: 8 or 4
 * @param group the rows that share a scale
 */
public record QuantizedMatrix(
    byte[] values, float[] scales, int rows, int columns, int bits, int group) {
  /** The parts of the largest magnitude at which clipping is tried, from 1 downwards. */
  private static final double STEP = 0.02;

  private static final double LEAST = 0.6;

  /** Quantizes each column to integers of 8 bits. */
  public static QuantizedMatrix bytes(float[] matrix, int rows, int columns) {
    return of(matrix, rows, columns, 8, rows);
  }

  /** Quantizes each group of rows of each column to integers of 4 bits. */
  public static QuantizedMatrix nibbles(float[] matrix, int rows, int columns, int group) {
    return of(matrix, rows, columns, 4, group);
  }

  private static QuantizedMatrix of(float[] matrix, int rows, int columns, int bits, int group) {
    byte[] values = new byte[matrix.length];
    float[] scales = new float[rows / group * columns];
    float[] part = new float[group];
    for (int first = 0; first < rows; first += group) {
      for (int column = 0; column < columns; column++) {
        for (int i = 0; i < group; i++) {
          part[i] = matrix[(first + i) * columns + column];
        }
        float scale = bits == 8 ? widest(part, bits) : leastError(part, bits);
        scales[first / group * columns + column] = scale;
        for (int i = 0; i < group; i++) {
          values[(first + i) * columns + column] = (byte) rounded(part[i], scale, bits);
        }
      }
    }
    return new QuantizedMatrix(values, scales, rows, columns, bits, group);
  }

  /** The scale that clips nothing. A part of zeros has any scale. */
  private static float widest(float[] part, int bits) {
    float largest = 0;
    for (float value : part) {
      largest = Math.max(largest, Math.abs(value));
    }
    float scale = largest / most(bits);
    return scale >= Float.MIN_NORMAL ? scale : 1;
  }

  /** The scale with the least squared error: few bits are worth clipping a few large values. */
  private static float leastError(float[] part, int bits) {
    float widest = widest(part, bits);
    float best = rounded(widest);
    double least = Double.POSITIVE_INFINITY;
    for (double clipped = 1; clipped >= LEAST; clipped -= STEP) {
      float scale = rounded((float) (widest * clipped));
      double error = 0;
      for (float value : part) {
        double delta = rounded(value, scale, bits) * (double) scale - value;
        error += delta * delta;
      }
      if (error < least) {
        least = error;
        best = scale;
      }
    }
    return best;
  }

  /** Rounds a scale to bf16. */
  private static float rounded(float scale) {
    return Float16.fromBfloat(Float16.toBfloat(scale));
  }

  private static int most(int bits) {
    return (1 << bits - 1) - 1;
  }

  /** Sums of products of 8 bits are symmetric; 4 bits use their whole range. */
  private static int rounded(float value, float scale, int bits) {
    int least = bits == 8 ? -most(bits) : -most(bits) - 1;
    return Math.clamp((long) Math.rint(value / scale), least, most(bits));
  }

  /** Returns the real numbers that the integers stand for, row-major. */
  public float[] dequantized() {
    float[] matrix = new float[values.length];
    for (int i = 0; i < matrix.length; i++) {
      matrix[i] = values[i] * scales[i / columns / group * columns + i % columns];
    }
    return matrix;
  }

  /** Returns the integers as ONNX stores them: two of 4 bits in a byte, the first one low. */
  byte[] packed() {
    if (bits == 8) {
      return values;
    }
    byte[] packed = new byte[(values.length + 1) / 2];
    for (int i = 0; i < values.length; i++) {
      packed[i / 2] |= (byte) ((values[i] & 15) << i % 2 * 4);
    }
    return packed;
  }
}
