package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * The throughput of a kernel on all cores of a chip, with data in the working memory. {@code m × n}
 * results take {@code overhead + ⌈m⌉rows ⌈n⌉columns k / rate} cycles, with {@code m} and {@code n}
 * rounded up to whole blocks, and {@code k} multiply-accumulates per result, or 1.
 *
 * @param element the element type of the operands
 */
public record KernelThroughput(KernelClass kernel, ElementType element, Figures figures) {
  static List<Field> fields(KernelClass kernel) {
    return List.of(
        Field.required("rate", kernel.rate(), Range.POSITIVE),
        Field.required("overhead", Dimension.CYCLES, Range.ANY),
        Field.optional("cold", Dimension.CYCLES, Range.ANY),
        Field.optional("rows", Dimension.COUNT, Range.POSITIVE_WHOLE),
        Field.optional("columns", Dimension.COUNT, Range.POSITIVE_WHOLE));
  }

  /** Returns the multiply-accumulates or elements per cycle of the chip. */
  public double rate() {
    return figures.number("rate");
  }

  /** Returns the cycles to start the kernel. */
  public double overheadCycles() {
    return figures.number("overhead");
  }

  /**
   * Returns the additional cycles if its instructions aren't cached; see {@link
   * ChipKind#warmKernels}.
   */
  public double coldCycles() {
    return figures.number("cold", 0);
  }

  public double cycles(long rows, long columns, long depth) {
    double blockRows = figures.number("rows", 1);
    double blockColumns = figures.number("columns", 1);
    double work =
        Math.ceil(rows / blockRows)
            * blockRows
            * Math.ceil(columns / blockColumns)
            * blockColumns
            * depth;
    return overheadCycles() + work / rate();
  }
}
