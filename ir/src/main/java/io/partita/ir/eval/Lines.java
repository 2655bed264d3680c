package io.partita.ir.eval;

import io.partita.ir.type.Shape;

/**
 * Iterates over a row-major index space line by line, with operands that have their own strides (0
 * if an operand is broadcast).
 *
 * <p>Axes that are contiguous in all operands are merged first, so that operands of equal shape
 * form a single line.
 */
final class Lines {
  /** The elements of one task. */
  private static final int CHUNK = 1 << 14;

  /** An action on a part of a line. */
  @FunctionalInterface
  interface Action {
    /**
     * @param position the row-major index of the part's first element
     * @param offsets the offset of that element in each operand
     * @param length the elements of the part
     */
    void line(int position, int[] offsets, int length);
  }

  private final int operands;
  private final int rank;
  private final int[] extents;
  private final int[][] strides;
  private final int length;
  private final int count;
  private final int[] lineStrides;

  /** {@code strides[operand][axis]} in elements. */
  Lines(long[] shape, long[]... strides) {
    this.operands = strides.length;
    int[] merged = new int[shape.length];
    int[][] mergedStrides = new int[operands][shape.length];
    int axes = 0;
    long elements = 1;
    for (int axis = 0; axis < shape.length; axis++) {
      elements *= shape[axis];
      if (shape[axis] == 1) {
        continue;
      }
      boolean even = axes > 0;
      for (int i = 0; i < operands && even; i++) {
        even = mergedStrides[i][axes - 1] == strides[i][axis] * shape[axis];
      }
      if (even) {
        merged[axes - 1] *= (int) shape[axis];
      } else {
        merged[axes++] = (int) shape[axis];
      }
      for (int i = 0; i < operands; i++) {
        mergedStrides[i][axes - 1] = (int) strides[i][axis];
      }
    }
    this.rank = Math.max(0, axes - 1);
    this.extents = merged;
    this.strides = mergedStrides;
    this.length = axes == 0 ? 1 : merged[axes - 1];
    this.count = elements == 0 ? 0 : (int) (elements / length);
    this.lineStrides = new int[operands];
    for (int i = 0; i < operands; i++) {
      lineStrides[i] = axes == 0 ? 0 : mergedStrides[i][axes - 1];
    }
  }

  /** Creates lines over {@code result}, to which the operands broadcast. */
  static Lines broadcast(Shape result, Shape... operands) {
    long[][] strides = new long[operands.length][];
    for (int i = 0; i < operands.length; i++) {
      strides[i] = broadcastStrides(operands[i], result.rank());
    }
    return new Lines(result.extents(), strides);
  }

  /** Returns the strides of an operand that broadcasts to {@code rank} dimensions. */
  static long[] broadcastStrides(Shape operand, int rank) {
    long[] own = operand.strides();
    long[] strides = new long[rank];
    for (int axis = 0; axis < own.length; axis++) {
      strides[rank - own.length + axis] = operand.extent(axis) == 1 ? 0 : own[axis];
    }
    return strides;
  }

  /** Returns the stride of lines of an operand. */
  int stride(int operand) {
    return lineStrides[operand];
  }

  /** Runs the action on each part of each line; parts are disjoint and may run in parallel. */
  void forEach(Action action) {
    if (count == 0) {
      return;
    }
    int parts = (length + CHUNK - 1) / CHUNK;
    int linesPerTask = Math.max(1, CHUNK / length);
    int blocks = (count + linesPerTask - 1) / linesPerTask;
    ParallelTasks.run(
        blocks * parts,
        (long) count * length,
        task -> {
          int from = task / parts * linesPerTask;
          int start = task % parts * CHUNK;
          walk(from, Math.min(count, from + linesPerTask), start, action);
        });
  }

  private void walk(int from, int to, int start, Action action) {
    int partLength = Math.min(length - start, CHUNK);
    int[] index = new int[rank];
    int rest = from;
    for (int axis = rank - 1; axis >= 0; axis--) {
      index[axis] = rest % extents[axis];
      rest /= extents[axis];
    }
    int[] offsets = new int[operands];
    for (int i = 0; i < operands; i++) {
      offsets[i] = start * lineStrides[i];
      for (int axis = 0; axis < rank; axis++) {
        offsets[i] += index[axis] * strides[i][axis];
      }
    }
    for (int line = from; line < to; line++) {
      action.line(line * length + start, offsets, partLength);
      advance(index, offsets);
    }
  }

  private void advance(int[] index, int[] offsets) {
    for (int axis = rank - 1; axis >= 0; axis--) {
      if (++index[axis] < extents[axis]) {
        for (int i = 0; i < operands; i++) {
          offsets[i] += strides[i][axis];
        }
        return;
      }
      index[axis] = 0;
      for (int i = 0; i < operands; i++) {
        offsets[i] -= (extents[axis] - 1) * strides[i][axis];
      }
    }
  }
}
