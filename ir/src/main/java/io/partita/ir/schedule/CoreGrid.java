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
    return switch (axis) {
      case ROWS -> rows;
      case COLUMNS -> columns;
      case CORES -> cores();
    };
  }

  /** Where a core is along an axis. */
  public int place(int core, Axis axis) {
    return switch (axis) {
      case ROWS -> core / columns;
      case COLUMNS -> core % columns;
      case CORES -> core;
    };
  }

  /** A direction of the grid. */
  public enum Axis {
    /** From row to row. */
    ROWS,
    /** From column to column. */
    COLUMNS,
    /** From core to core, row by row. */
    CORES
  }
}
