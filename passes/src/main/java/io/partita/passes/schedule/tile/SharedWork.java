package io.partita.passes.schedule.tile;

import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.FunctionThroughput;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.WorkSharing;
import io.partita.passes.timing.KernelWork;
import java.util.Optional;

/** Cycles of a kernel on one tile, cores sharing it as its header says. */
final class SharedWork {
  /** A block's sums are loaded and stored: as long as so many steps along the depth. */
  private static final long BLOCK_STEPS = 4;

  private SharedWork() {}

  static double cycles(
      KernelCall call, long batch, long rows, long columns, long depth, ChipKind chip) {
    Optional<FunctionThroughput> measured = measured(call, chip);
    if (measured.isPresent()) {
      return measured.get().cycles(batch, rows, columns, depth, chip.cores());
    }
    if (batch == 0 || rows == 0 || columns == 0) {
      return work(call, 0, 0, 0, 0).warmCycles(chip);
    }
    double overhead = work(call, 0, 0, 0, 0).warmCycles(chip);
    long steps = isProduct(call) ? depth + BLOCK_STEPS : depth;
    double even = work(call, batch, rows, columns, steps).warmCycles(chip) - overhead;
    double items = items(call, batch, rows, columns, chip.cores());
    double rounds = Math.ceil(items / chip.cores());
    return overhead + even * rounds * chip.cores() / items;
  }

  /** More for the first tile. */
  static double coldCycles(KernelCall call, ChipKind chip) {
    KernelWork one = work(call, 1, 1, 1, 1);
    return measured(call, chip)
        .map(FunctionThroughput::coldCycles)
        .orElseGet(() -> one.cycles(chip) - one.warmCycles(chip));
  }

  private static Optional<FunctionThroughput> measured(KernelCall call, ChipKind chip) {
    return chip.function(call.kernel().name());
  }

  private static KernelWork work(KernelCall call, long batch, long rows, long columns, long depth) {
    return new KernelWork(
        call.kernel().kernelClass(), call.kernel().element(), batch, rows, columns, depth);
  }

  private static boolean isProduct(KernelCall call) {
    return call.kernel().struct().sharing().rows() > 0;
  }

  /** What cores take one after the other. */
  private static double items(KernelCall call, long batch, long rows, long columns, int cores) {
    WorkSharing sharing = call.kernel().struct().sharing();
    double lines = (double) batch * rows;
    if (sharing.rows() > 0) {
      return batch
          * (double) Math.ceilDiv(rows, sharing.rows())
          * Math.ceilDiv(columns, sharing.columns());
    }
    if (sharing.columns() > 0) {
      return lines * Math.ceilDiv(columns, sharing.columns());
    }
    // Of fewer rows each core takes a part, but finds what the whole row is divided by.
    return call.kernel().kernelClass() == KernelClass.NORM ? Math.max(lines, cores / 2.0) : lines;
  }
}
