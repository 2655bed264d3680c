package io.partita.passes.timing;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Dimension;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.KernelThroughput;
import io.partita.ir.type.ElementType;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The work of one kernel: {@code batch} times {@code rows × columns} results of {@code depth} steps
 * each, multiply-accumulates or passes.
 */
public record KernelWork(
    KernelClass kernel, ElementType element, long batch, long rows, long columns, long depth) {
  /** {@code passes} over so many elements. */
  public static KernelWork elements(
      KernelClass kernel, ElementType element, long elements, long passes) {
    return new KernelWork(kernel, element, 1, 1, elements, passes);
  }

  static KernelWork product(ElementType element, long batch, long rows, long columns, long depth) {
    boolean vector = rows == 1 || columns == 1;
    return new KernelWork(
        vector ? KernelClass.MATVEC : KernelClass.MATMUL, element, batch, rows, columns, depth);
  }

  /** Returns the multiply-accumulates; 0 for other kernels. */
  public long multiplyAccumulates() {
    if (kernel.rate() != Dimension.MACS_PER_CYCLE) {
      return 0;
    }
    return Math.multiplyExact(Math.multiplyExact(batch, rows), Math.multiplyExact(columns, depth));
  }

  /**
   * Returns the cycles on a chip with data in its working memory and instructions in the cache.
   *
   * <p>If the chip's table lacks the element type, the narrowest wider type of its kind counts, or
   * else the widest, slowed down by the ratio of widths. A product of a matrix and a vector, and a
   * convolution, count as a product of matrices if the table lacks them.
   *
   * @throws PartitaException with {@link CostCode#NO_THROUGHPUT}
   */
  public double warmCycles(ChipKind chip) {
    KernelThroughput found = throughput(chip);
    double once = found.cycles(rows, columns, depth) - found.overheadCycles();
    return found.overheadCycles() + slower(found) * batch * once;
  }

  /** Returns the cycles, including those of loading the instructions. */
  public double cycles(ChipKind chip) {
    return coldCycles(chip) + warmCycles(chip);
  }

  /** Returns the additional cycles if the instructions are not cached. */
  double coldCycles(ChipKind chip) {
    return throughput(chip).coldCycles();
  }

  /**
   * Returns a lower bound of the cycles of any share of this work: no overhead, no rounding, and
   * the better of the rates for matrices and vectors.
   */
  public double fewestCycles(ChipKind chip) {
    KernelThroughput found = throughput(chip);
    double rate = found.rate() / slower(found);
    if (kernel == KernelClass.MATVEC || kernel == KernelClass.MATMUL) {
      for (KernelClass each : List.of(KernelClass.MATVEC, KernelClass.MATMUL)) {
        rate = Math.max(rate, find(chip, each).map(t -> t.rate() / slower(t)).orElse(0.0));
      }
    }
    return (double) batch * rows * columns * depth / rate;
  }

  private double slower(KernelThroughput found) {
    return Math.max(1, (double) element.bits() / found.element().bits());
  }

  private KernelThroughput throughput(ChipKind chip) {
    return find(chip, kernel)
        .or(
            () ->
                kernel.rate() == Dimension.MACS_PER_CYCLE
                    ? find(chip, KernelClass.MATMUL)
                    : Optional.empty())
        .orElseThrow(
            () ->
                new PartitaException(
                    CostCode.NO_THROUGHPUT,
                    "target, chip " + chip.name(),
                    "kernel " + kernel.text() + " " + element,
                    "none for this kind of elements",
                    "add it to the target description"));
  }

  private Optional<KernelThroughput> find(ChipKind chip, KernelClass wanted) {
    Comparator<KernelThroughput> width = Comparator.comparingInt(each -> each.element().bits());
    Predicate<KernelThroughput> sameKind =
        each -> each.kernel() == wanted && each.element().isFloat() == element.isFloat();
    return chip.throughput(wanted, element)
        .or(
            () ->
                chip.kernels().stream()
                    .filter(sameKind.and(each -> each.element().bits() > element.bits()))
                    .min(width))
        .or(() -> chip.kernels().stream().filter(sameKind).max(width));
  }
}
