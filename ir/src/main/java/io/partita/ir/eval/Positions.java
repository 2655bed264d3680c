package io.partita.ir.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;

/** Indices in data: checks their ranges, and resolves negative ones, which count from the end. */
final class Positions {
  private Positions() {}

  /** Returns all elements of {@code indices} as positions below {@code extent}. */
  static int[] along(Tensor indices, long extent, String where) {
    int[] positions = new int[indices.size()];
    for (int i = 0; i < positions.length; i++) {
      positions[i] = checked(indices.getLong(i), extent, where);
    }
    return positions;
  }

  /** Returns a position below {@code extent}; a negative index counts from the end. */
  static int checked(long index, long extent, String where) {
    return inside(index < 0 && index >= -extent ? index + extent : index, extent, where);
  }

  /** Returns a position from 0 to {@code extent - 1}. */
  static int inside(long index, long extent, String where) {
    if (index < 0 || index >= extent) {
      throw new PartitaException(
          EvaluationCode.INDEX_OUT_OF_RANGE,
          where,
          extent == 0 ? "no index, because the axis is empty" : "an index below " + extent,
          Long.toString(index),
          "check the input values that give the index");
    }
    return (int) index;
  }

  /**
   * Returns the row-major offsets in {@code data} of the index tuples in the last dimension of
   * {@code indices}; the tuples begin at axis {@code first} of the data.
   */
  static int[] tuples(Tensor indices, Shape data, int first, String where) {
    int length = (int) indices.shape().fromEnd(0).value();
    long count = indices.shape().range(0, indices.shape().rank() - 1).elements();
    long[] strides = data.strides();
    int[] offsets = new int[Math.toIntExact(count)];
    for (int tuple = 0; tuple < offsets.length; tuple++) {
      for (int i = 0; i < length; i++) {
        long index = indices.getLong(tuple * length + i);
        int position = checked(index, data.extent(first + i), where);
        offsets[tuple] += (int) (position * strides[first + i]);
      }
    }
    return offsets;
  }
}
