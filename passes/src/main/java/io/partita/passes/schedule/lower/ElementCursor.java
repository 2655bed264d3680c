package io.partita.passes.schedule.lower;

import java.util.List;

/** Splits the dimensions of a tensor, innermost first; contiguous ones are merged. */
final class ElementCursor {
  private final TileGrid grid;
  private int next;
  private long left = 1;
  private long stride;

  ElementCursor(TensorView view) {
    grid = TileGrid.of(view.shape(), List.of(view.strides()), List.of());
    next = grid.rank();
    advance();
  }

  private void advance() {
    if (left == 1 && next > 0) {
      next--;
      left = grid.extents().get(next);
      stride = grid.strides().getFirst().get(next);
    }
  }

  /** Returns what is left of the current dimension; 1 after the last one. */
  long left() {
    return left;
  }

  /**
   * Takes the innermost indices that are left of the current dimension.
   *
   * @param extent their number, which divides {@link #left}
   * @return their stride
   */
  long take(long extent) {
    long own = stride;
    left /= extent;
    stride *= extent;
    advance();
    return own;
  }
}
