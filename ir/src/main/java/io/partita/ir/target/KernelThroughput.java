package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * How fast a chip's cores run a kernel together, data in the first memory. {@code m × n} results
 * take {@code overhead + ⌈m⌉rows ⌈n⌉columns k / rate} cycles, rounded up to whole blocks, with k
 * multiply-accumulates for each, or 1.
 *
 * @param element of the operands
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

  /** Multiply-accumulates or elements per cycle of the chip. */
  public double rate() {
    return figures.number("rate");
  }

  /** Of starting the kernel, whatever its size. */
  public double overheadCycles() {
    return figures.number("overhead");
  }

  /** More where its instructions aren't in the cache: {@link ChipKind#warmKernels}. */
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
