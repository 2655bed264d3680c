package io.partita.ir.target;

import java.util.Arrays;
import java.util.Optional;

/** Kernels that run at a rate of their own. */
public enum KernelClass {
  /** Matrix products with several rows on both sides. */
  MATMUL("matmul", Dimension.MACS_PER_CYCLE),
  /** Matrix by vector: no operand is used twice. */
  MATVEC("matvec", Dimension.MACS_PER_CYCLE),
  CONVOLUTION("convolution", Dimension.MACS_PER_CYCLE),
  /** One or two operations for each element. */
  ELEMENTWISE("elementwise", Dimension.ELEMENTS_PER_CYCLE),
  /** Exponential, error function, division, root. */
  TRANSCENDENTAL("transcendental", Dimension.ELEMENTS_PER_CYCLE),
  /** Two passes over a line and a root for each. */
  NORM("norm", Dimension.ELEMENTS_PER_CYCLE),
  SOFTMAX("softmax", Dimension.ELEMENTS_PER_CYCLE),
  /** Sums, maxima, comparisons. */
  REDUCTION("reduction", Dimension.ELEMENTS_PER_CYCLE),
  /** Copies to other places. */
  MOVEMENT("movement", Dimension.ELEMENTS_PER_CYCLE);

  private final String text;
  private final Dimension rate;

  KernelClass(String text, Dimension rate) {
    this.text = text;
    this.rate = rate;
  }

  public String text() {
    return text;
  }

  /** What its work is counted in, per cycle. */
  public Dimension rate() {
    return rate;
  }

  public static Optional<KernelClass> of(String text) {
    return Arrays.stream(values()).filter(kernel -> kernel.text.equals(text)).findFirst();
  }
}
