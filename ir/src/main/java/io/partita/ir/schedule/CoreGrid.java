package io.partita.ir.schedule;

/** The cores of a chip; cores that share the working memory form one row. */
public record CoreGrid(int rows, int columns) {
  public CoreGrid {
    if (rows < 1 || columns < 1) {
      throw new IllegalArgumentException("no cores: " + rows + " x " + columns);
    }
  }

  public int cores() {
    return rows * columns;
  }

  /** Returns the number of cores along an axis. */
  public int size(Axis axis) {
    return switch (axis) {
      case ROWS -> rows;
      case COLUMNS -> columns;
      case CORES -> cores();
    };
  }

  /** Returns the position of a core along an axis. */
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
