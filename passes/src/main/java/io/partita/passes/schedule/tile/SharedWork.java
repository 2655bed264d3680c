package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.CallForm;
import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.FunctionThroughput;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import io.partita.passes.timing.KernelWork;
import java.util.Optional;

/** The cycles of a kernel on one tile, which cores share as its header defines. */
final class SharedWork {
  /** The cost of loading and storing the sums of a block, in steps along the depth. */
  private static final long BLOCK_STEPS = 4;

  private SharedWork() {}

  /**
   * Returns the figures of a kernel in a form, or in the usual one, or of the most similar measured
   * kernel.
   */
  private static Optional<FunctionThroughput> measured(
      Kernel kernel, CallForm form, ChipKind chip) {
    Optional<FunctionThroughput> own =
        chip.function(form.figures(kernel)).or(() -> chip.function(kernel.name()));
    return own.isPresent() || kernel.epilogue().isPresent()
        ? own
        : KernelTable.alike(kernel).stream()
            .flatMap(each -> chip.function(each.name()).stream())
            .findFirst();
  }

  /** Returns the cycles of an unmeasured fused kernel: those of its two parts, with one start. */
  static double cycles(
      Kernel kernel,
      CallForm form,
      long batch,
      long rows,
      long columns,
      long depth,
      ChipKind chip) {
    Optional<FunctionThroughput> measured = measured(kernel, form, chip);
    if (measured.isPresent()) {
      return measured.get().cycles(batch, rows, columns, depth, chip.cores());
    }
    if (kernel.epilogue().isPresent()) {
      Kernel product = KernelTable.get(kernel.epilogue().get().product());
      Kernel end = KernelTable.get(kernel.epilogue().get().end());
      return cycles(product, form, batch, rows, columns, depth, chip)
          + cycles(end, CallForm.USUAL, 1, batch * rows, columns, 1, chip)
          - cycles(end, CallForm.USUAL, 0, 0, 0, 0, chip);
    }
    if (batch == 0 || rows == 0 || columns == 0) {
      return work(kernel, 0, 0, 0, 0).warmCycles(chip);
    }
    double overhead = work(kernel, 0, 0, 0, 0).warmCycles(chip);
    long steps = isProduct(kernel) ? depth + BLOCK_STEPS : depth;
    double even = work(kernel, batch, rows, columns, steps).warmCycles(chip) - overhead;
    double items = items(kernel, batch, rows, columns, chip.cores());
    double rounds = Math.ceil(items / chip.cores());
    return overhead + even * rounds * chip.cores() / items;
  }

  /** Returns the additional cycles for the first tile. */
  static double coldCycles(Kernel kernel, CallForm form, ChipKind chip) {
    Optional<FunctionThroughput> measured = measured(kernel, form, chip);
    if (measured.isEmpty() && kernel.epilogue().isPresent()) {
      return coldCycles(KernelTable.get(kernel.epilogue().get().product()), form, chip);
    }
    KernelWork one = work(kernel, 1, 1, 1, 1);
    return measured
        .map(FunctionThroughput::coldCycles)
        .orElseGet(() -> one.cycles(chip) - one.warmCycles(chip));
  }

  private static KernelWork work(Kernel kernel, long batch, long rows, long columns, long depth) {
    return new KernelWork(kernel.kernelClass(), kernel.element(), batch, rows, columns, depth);
  }

  private static boolean isProduct(Kernel kernel) {
    return kernel.struct().sharing().rows() > 0;
  }

  /** Returns the work that cores do one after the other. */
  private static double items(Kernel kernel, long batch, long rows, long columns, int cores) {
    WorkSharing sharing = kernel.struct().sharing();
    double lines = (double) batch * rows;
    if (sharing.rows() > 0) {
      return batch
          * (double) Math.ceilDiv(rows, sharing.rows())
          * Math.ceilDiv(columns, sharing.columns());
    }
    if (sharing.columns() > 0) {
      return lines * Math.ceilDiv(columns, sharing.columns());
    }
    // With fewer rows than cores, each core computes a part of a row, but the divisor of the whole
    // row.
    return kernel.kernelClass() == KernelClass.NORM ? Math.max(lines, cores / 2.0) : lines;
  }
}
