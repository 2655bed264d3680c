package io.partita.backend.java.runtime;

import java.lang.reflect.Array;

/** The parts of row-major arrays that devices hold. */
final class Boxes {
  private Boxes() {}

  /**
   * Copies a box of an array.
   *
   * @param shape the whole array's extents
   * @param box the first index in each dimension, then the extent in each; null for nothing
   * @return the elements of the box, or null
   */
  static Object cut(Object whole, int[] shape, int[] box) {
    if (box == null) {
      return null;
    }
    int elements = 1;
    for (int dim = 0; dim < shape.length; dim++) {
      elements *= box[shape.length + dim];
    }
    Object part = Array.newInstance(whole.getClass().getComponentType(), elements);
    copy(whole, shape, box, part, true);
    return part;
  }

  /** Copies the elements of a box into the whole array. */
  static void paste(Object part, int[] shape, int[] box, Object whole) {
    copy(whole, shape, box, part, false);
  }

  /** Copies row by row, along the last dimension. */
  private static void copy(Object whole, int[] shape, int[] box, Object part, boolean cuts) {
    int rank = shape.length;
    int row = rank == 0 ? 1 : box[2 * rank - 1];
    int elements = Array.getLength(part);
    int[] at = new int[rank];
    for (int done = 0; done < elements; done += row) {
      int place = 0;
      for (int dim = 0; dim < rank; dim++) {
        place = place * shape[dim] + box[dim] + at[dim];
      }
      if (cuts) {
        System.arraycopy(whole, place, part, done, row);
      } else {
        System.arraycopy(part, done, whole, place, row);
      }
      for (int dim = rank - 2; dim >= 0 && ++at[dim] == box[rank + dim]; dim--) {
        at[dim] = 0;
      }
    }
  }
}
