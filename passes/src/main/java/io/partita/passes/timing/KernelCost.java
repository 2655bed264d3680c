package io.partita.passes.timing;

import io.partita.ir.target.ChipKind;
import java.util.List;

/**
 * What one operation does on one device. Each operand and each result is counted once: tiles keep
 * in the working memory what they use again.
 *
 * @param work its kernels, one after the other
 * @param weightBytes known when compiling, read from where they live
 * @param inputBytes computed, read from where activations live
 * @param outputBytes written to where activations live
 */
public record KernelCost(
    List<KernelWork> work, long weightBytes, long inputBytes, long outputBytes) {
  public KernelCost {
    work = List.copyOf(work);
  }

  public long multiplyAccumulates() {
    return work.stream().mapToLong(KernelWork::multiplyAccumulates).sum();
  }

  /** Cycles of the cores, data in the working memory, after other kernels. */
  public double cycles(ChipKind chip) {
    return new WarmKernels(chip).coldCycles(work) + warmCycles(chip);
  }

  /** Without loading instructions. */
  double warmCycles(ChipKind chip) {
    return work.stream().mapToDouble(each -> each.warmCycles(chip)).sum();
  }

  public long bytes() {
    return weightBytes + inputBytes + outputBytes;
  }
}
