package io.partita.frontend.onnx.selection;

import io.partita.ir.graph.Value;
import java.util.List;
import java.util.Optional;

/**
 * All rows of a value with rows that a mask selects: instead of the unknown extent, {@code full}
 * has the dimensions of the mask, with extent 1 for dimensions on which it doesn't depend.
 *
 * @param axis the axis of the original value with the unknown extent
 * @param full the value for all rows, whose rank is that of the original value, minus one, plus
 *     that of the mask
 * @param places the coordinates that form the value, if any
 */
record Rows(Selection selection, int axis, Value full, Optional<Places> places) {
  /**
   * Coordinates, which are equal along all axes except that of rows and {@code axis}, which has the
   * entries.
   *
   * @param axis the axis of the entries in the original value; -1 for a single entry
   */
  record Places(int axis, List<Affine> entries) {
    Places {
      entries = List.copyOf(entries);
    }

    Places at(int other) {
      return new Places(other, entries);
    }
  }

  Rows with(Places places) {
    return new Rows(selection, axis, full, Optional.of(places));
  }

  Rows without() {
    return new Rows(selection, axis, full, Optional.empty());
  }

  /** Returns the axis of {@code full} for an axis of the original value other than that of rows. */
  int mapped(int original) {
    return original < axis ? original : original + selection.rank() - 1;
  }
}
