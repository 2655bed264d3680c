package io.partita.frontend.onnx.selection;

import io.partita.ir.graph.Value;
import java.util.List;
import java.util.Optional;

/**
 * A value with rows that a mask selects, as all rows: in the place of the extent that isn't known,
 * {@code full} has the dimensions of the mask, or 1 for one of which it doesn't depend.
 *
 * @param axis of the original value that has the unknown extent
 * @param full of the rank of the original value, less one, plus that of the mask
 * @param places what the value is, where it's made of coordinates
 */
record Rows(Selection selection, int axis, Value full, Optional<Places> places) {
  /**
   * Coordinates: the same along all axes but the one of rows and {@code axis}, along which there
   * are as many as entries.
   *
   * @param axis of the original value; -1 where there's one entry only
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

  /** The axis of {@code full} for an axis of the original value other than that of rows. */
  int mapped(int original) {
    return original < axis ? original : original + selection.rank() - 1;
  }
}
