package io.partita.backend.metalium;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.ChipKind;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A grid of cores that a program uses, such as {@code 8x8}. */
public record Grid(int columns, int rows) {
  private static final Pattern FORM = Pattern.compile("([1-9]\\d{0,2})x([1-9]\\d{0,2})");

  /**
   * Reads a grid of no more cores than a chip has.
   *
   * @throws PartitaException P5207 if it isn't
   */
  public static Grid of(String text, ChipKind kind) {
    Grid chip = new Grid(kind.cores() / kind.coreRows(), kind.coreRows());
    Matcher matcher = FORM.matcher(text);
    if (matcher.matches()) {
      Grid grid = new Grid(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
      if (grid.columns * grid.rows <= kind.cores()) {
        return grid;
      }
    }
    throw new PartitaException(
        MetaliumCode.GRID,
        "--set grid=" + text,
        "columns and rows of at most " + kind.cores() + " cores, such as " + chip,
        text,
        "write --set grid=" + chip + ", or leave it out");
  }

  @Override
  public String toString() {
    return columns + "x" + rows;
  }
}
