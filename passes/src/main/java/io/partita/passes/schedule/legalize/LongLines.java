package io.partita.passes.schedule.legalize;

import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.List;

/**
 * Which lines don't fit the working memory, of which a kernel needs each whole.
 *
 * @param bytes of the working memory
 */
record LongLines(long bytes) {
  /** Lines that lie beside each other are loaded so many at a time. */
  private static final long NEIGHBOURS = 8;

  /**
   * How many elements of the line along an axis fit; all, if the smallest tile does.
   *
   * @param each bytes of all operands and results for each element of the line
   */
  long part(Shape shape, int axis, long each) {
    return part(shape, List.of(axis), axis, each);
  }

  /**
   * The same for a line that runs along several axes, of which one is cut.
   *
   * @param axes of the line
   * @param axis one of them
   */
  long part(Shape shape, List<Integer> axes, int axis, long each) {
    long others = 1;
    for (int other : axes) {
      others *= shape.extent(other);
    }
    others = others / shape.extent(axis) * each * beside(shape, axes);
    long extent = shape.extent(axis);
    // Half of it, so that the next part can be loaded meanwhile.
    return others * extent <= bytes ? extent : Math.max(1, bytes / 2 / others);
  }

  /** Lines beside each other that a tile has at least. */
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
