package io.partita.ir.schedule;

/** The cores of a chip; those that share the memory that kernels work in have one row. */
public record CoreGrid(int rows, int columns) {
  public CoreGrid {
    if (rows < 1 || columns < 1) {
      throw new IllegalArgumentException("no cores: " + rows + " x " + columns);
    }
  }

  public int cores() {
    return rows * columns;
  }

  /** How many cores there are along an axis. */
  public int size(Axis axis) {
    return axis == Axis.ROWS ? rows : columns;
  }

  /** A direction of the grid. */
  public enum Axis {
    /** From row to row. */
    ROWS,
    /** From column to column. */
    COLUMNS
  }
}
