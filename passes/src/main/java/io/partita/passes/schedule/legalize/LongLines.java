package io.partita.passes.schedule.legalize;

import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;

/**
 * Finds lines that a kernel needs whole, but that don't fit the working memory.
 *
 * @param bytes the bytes of the working memory
 */
record LongLines(long bytes) {
  /** The number of adjacent lines that are loaded together. */
  private static final long NEIGHBOURS = 8;

  /**
   * Returns the number of elements of a line along an axis that fit; all, if the smallest tile
   * fits.
   *
   * @param each the bytes of all operands and results per element of the line
   */
  long part(Shape shape, int axis, long each) {
    return part(shape, List.of(axis), axis, each);
  }

  /**
   * Does the same for a line along several axes, one of which is divided.
   *
   * @param axes the axes of the line
   * @param axis the axis that is divided
   */
  long part(Shape shape, List<Integer> axes, int axis, long each) {
    long others = 1;
    for (int other : axes) {
      others *= shape.extent(other);
    }
    others = others / shape.extent(axis) * each * beside(shape, axes);
    long extent = shape.extent(axis);
    // Half of it, so that the next part can be loaded in the meantime.
    return others * extent <= bytes ? extent : Math.max(1, bytes / 2 / others);
  }

  /** Returns the least number of adjacent lines in a tile. */
  private static long beside(Shape shape, List<Integer> axes) {
    for (int axis = shape.rank() - 1; axis >= 0; axis--) {
      if (axes.contains(axis)) {
        return 1;
      }
      if (shape.extent(axis) > 1) {
        return Math.min(NEIGHBOURS, shape.extent(axis));
      }
    }
    return 1;
  }

  static long bytes(ElementType element) {
    return Math.ceilDiv(element.bits(), Byte.SIZE);
  }
}
