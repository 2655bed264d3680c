package io.partita.ir.schedule;

import io.partita.ir.target.ChipKind;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * The cores of a chip; cores that share the working memory form one row.
 *
 * @param sums the type in which cores sum products of elements of 16 bits, BF16 or F32; others are
 *     summed in F32
 */
public record CoreGrid(int rows, int columns, ElementType sums) {
  public CoreGrid {
    if (sums != ElementType.F32 && sums != ElementType.BF16) {
      throw new IllegalArgumentException("no sums of " + sums.text());
    }
    if (rows < 1 || columns < 1) {
      throw new IllegalArgumentException("no cores: " + rows + " x " + columns);
    }
  }

  /** Creates cores that sum in 32 bits. */
  public CoreGrid(int rows, int columns) {
    this(rows, columns, ElementType.F32);
  }

  /** Returns the cores of a chip. */
  public static CoreGrid of(ChipKind chip) {
    return new CoreGrid(
        chip.coreRows(),
        chip.cores() / chip.coreRows(),
        chip.sumBits() == Short.SIZE ? ElementType.BF16 : ElementType.F32);
  }

  /** What a loop reads or writes. */
  public interface Operand {
    ElementType element();

    Packing packing();

    Direction direction();
  }

  /** Returns the type in which cores sum a product of these operands. */
  public ElementType sums(List<? extends Operand> operands) {
    boolean areOf16Bits =
        operands.stream()
            .filter(operand -> operand.direction() != Direction.SCALAR)
            .allMatch(operand -> isOf16Bits(operand.element(), operand.packing()));
    return areOf16Bits ? sums : ElementType.F32;
  }

  /** Whether elements are of 16 bits or fewer, so that their products may be summed in 16. */
  public static boolean isOf16Bits(ElementType element, Packing packing) {
    return element == ElementType.BF16 || packing != Packing.PLAIN;
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
