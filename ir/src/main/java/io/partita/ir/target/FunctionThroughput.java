package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import java.util.List;

/**
 * The measured throughput of one compiled kernel of the runtime. Cores divide its results according
 * to {@link WorkSharing} and wait for the largest share, which takes {@code overhead + blocks ×
 * block + results × result + work × cores / rate} cycles.
 *
 * @param kernel its class, which determines the unit of its work
 * @param function its name in C without the runtime's prefix, such as {@code gemm_f32}
 */
public record FunctionThroughput(KernelClass kernel, String function, Figures figures) {
  static List<Field> fields(KernelClass kernel) {
    return List.of(
        Field.required("rate", kernel.rate(), Range.POSITIVE),
        Field.required("overhead", Dimension.CYCLES, Range.ANY),
        Field.optional("cold", Dimension.CYCLES, Range.ANY),
        Field.optional("block", Dimension.CYCLES, Range.ANY),
        Field.optional("result", Dimension.CYCLES, Range.ANY),
        Field.optional("split", Dimension.COUNT, Range.FRACTION),
        Field.optional("rows", Dimension.COUNT, Range.POSITIVE_WHOLE),
        Field.optional("columns", Dimension.COUNT, Range.POSITIVE_WHOLE));
  }

  /** Whether a word of a target can be the name of a function: it has several parts. */
  static boolean isName(String word) {
    return word.matches("[a-z0-9]+(_[a-z0-9]+)+");
  }

  /**
   * Returns the additional cycles if its instructions aren't cached; see {@link
   * ChipKind#warmFunctions}.
   */
  public double coldCycles() {
    return figures.number("cold", 0);
  }

  /** Returns the cycles of each call. */
  public double overheadCycles() {
    return figures.number("overhead");
  }

  /** Returns the additional cycles of a block or line of a core. */
  public double blockCycles() {
    return figures.number("block", 0);
  }

  /** Returns the additional cycles of a result. */
  public double resultCycles() {
    return figures.number("result", 0);
  }

  /** Returns the units of work per cycle of all cores, without overheads. */
  public double rate() {
    return figures.number("rate");
  }

  /** Returns the division of its work among cores. */
  public WorkSharing sharing() {
    return new WorkSharing(
        (long) figures.number("rows", 0),
        (long) figures.number("columns", 0),
        figures.number("split", 0));
  }

  /**
   * Returns the cycles for {@code batch × rows × columns} results of {@code depth} units of work
   * each.
   */
  public double cycles(long batch, long rows, long columns, long depth, int cores) {
    WorkSharing.Part most = sharing().most(batch, rows, columns, depth, cores);
    return overheadCycles()
        + most.blocks() * blockCycles()
        + most.results() * resultCycles()
        + most.work() * cores / rate();
  }
}
