package io.partita.passes.timing;

import io.partita.ir.target.ChipKind;
import java.util.List;

/**
 * The work and traffic of one operation on one device. Each operand and result is counted once,
 * since tiles reuse data in the working memory.
 *
 * @param work its kernels, one after the other
 * @param weightBytes bytes of constants, read from their memory
 * @param inputBytes bytes of activations that are read
 * @param outputBytes bytes of activations that are written
 */
public record KernelCost(
    List<KernelWork> work, long weightBytes, long inputBytes, long outputBytes) {
  public KernelCost {
    work = List.copyOf(work);
  }

  public long multiplyAccumulates() {
    return work.stream().mapToLong(KernelWork::multiplyAccumulates).sum();
  }

  /** Returns the cycles of the cores with data in the working memory and no cached instructions. */
  public double cycles(ChipKind chip) {
    return new WarmKernels(chip).coldCycles(work) + warmCycles(chip);
  }

  /** Returns the cycles without loading instructions. */
  double warmCycles(ChipKind chip) {
    return work.stream().mapToDouble(each -> each.warmCycles(chip)).sum();
  }

  public long bytes() {
    return weightBytes + inputBytes + outputBytes;
  }
}
