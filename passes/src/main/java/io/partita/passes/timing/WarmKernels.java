package io.partita.passes.timing;

import io.partita.ir.target.ChipKind;
import io.partita.ir.target.KernelClass;
import io.partita.ir.type.ElementType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Models the instruction cache: it holds the kernels that ran last. */
public final class WarmKernels {
  private final ChipKind chip;
  private final SequencedMap<Kernel, Boolean> recent = new LinkedHashMap<>();

  private record Kernel(KernelClass kernel, ElementType element) {}

  public WarmKernels(ChipKind chip) {
    this.chip = chip;
  }

  /** Runs kernels, and returns the cycles of loading their instructions. */
  public double coldCycles(List<KernelWork> work) {
    double cycles = 0;
    for (KernelWork each : work) {
      Kernel kernel = new Kernel(each.kernel(), each.element());
      cycles += recent.containsKey(kernel) ? 0 : each.coldCycles(chip);
      recent.remove(kernel);
      recent.putLast(kernel, true);
      if (recent.size() > chip.warmKernels()) {
        recent.pollFirstEntry();
      }
    }
    return cycles;
  }
}
