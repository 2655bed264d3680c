package io.partita.backend.siracusa.random;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** Shapes with a given number of elements. */
final class RandomShapes {
  private RandomShapes() {}

  /** Merges adjacent dimensions, splits a dimension, and inserts ones. */
  static Shape other(Shape shape, Draw draw) {
    List<Dim> dims = new ArrayList<>(shape.dims());
    for (int change = draw.from(1, 3); change > 0; change--) {
      int axis = dims.isEmpty() ? 0 : draw.from(0, dims.size() - 1);
      switch (draw.from(0, 2)) {
        case 0 -> {
          if (axis + 1 < dims.size()) {
            dims.set(axis, dims.get(axis).times(dims.remove(axis + 1)));
          }
        }
        case 1 -> {
          if (!dims.isEmpty() && dims.size() < 5) {
            long extent = dims.get(axis).value();
            long factor = draw.one(2L, 3L, extent);
            if (factor > 0 && extent % factor == 0) {
              dims.set(axis, Dim.of(factor));
              dims.add(axis + 1, Dim.of(extent / factor));
            }
          }
        }
        default -> {
          if (dims.size() < 5) {
            dims.add(axis, Dim.ONE);
          }
        }
      }
    }
    return new Shape(dims);
  }
}
