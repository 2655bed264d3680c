package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;

/**
 * How fast a chip's cores run one kernel of the runtime as it was compiled for them. Cores take
 * blocks of {@code rows × columns} results one after the other, whole lines where there are no
 * {@code columns}. A core takes {@code block + results k cores / rate} cycles for each, and all
 * take {@code overhead} more.
 *
 * @param kernel which kind it is, so what its work is counted in
 * @param function its name in C without the runtime's prefix, {@code gemm_f32}
 */
public record FunctionThroughput(KernelClass kernel, String function, Figures figures) {
  static List<Field> fields(KernelClass kernel) {
    return List.of(
        Field.required("rate", kernel.rate(), Range.POSITIVE),
        Field.required("overhead", Dimension.CYCLES, Range.ANY),
        Field.optional("block", Dimension.CYCLES, Range.ANY),
        Field.optional("rows", Dimension.COUNT, Range.POSITIVE_WHOLE),
        Field.optional("columns", Dimension.COUNT, Range.POSITIVE_WHOLE));
  }

  /** Whether a word of a target can be the name of one: it has several parts. */
  static boolean isName(String word) {
    return word.matches("[a-z0-9]+(_[a-z0-9]+)+");
  }

  /** Of {@code batch × rows × columns} results of {@code depth} each on so many cores. */
  public double cycles(long batch, long rows, long columns, long depth, int cores) {
    long blockRows = (long) figures.number("rows", 1);
    long blockColumns = Math.max(1, (long) figures.number("columns", columns));
    double blocks =
        (double) batch * Math.ceilDiv(rows, blockRows) * Math.ceilDiv(columns, blockColumns);
    double results = (double) Math.min(rows, blockRows) * Math.min(columns, blockColumns);
    double each = figures.number("block", 0) + results * depth * cores / figures.number("rate");
    return figures.number("overhead") + Math.ceil(blocks / cores) * each;
  }
}
