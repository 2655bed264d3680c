package io.partita.ir.target;

import java.util.Arrays;
import java.util.Optional;

/** Classes of kernels, each with its own throughput. */
public enum KernelClass {
  /** Matrix-matrix products. */
  MATMUL("matmul", Dimension.MACS_PER_CYCLE),
  /** Matrix-vector products, which use each element of the matrix once. */
  MATVEC("matvec", Dimension.MACS_PER_CYCLE),
  CONVOLUTION("convolution", Dimension.MACS_PER_CYCLE),
  /** One or two operations per element. */
  ELEMENTWISE("elementwise", Dimension.ELEMENTS_PER_CYCLE),
  /** Exponentials, error functions, divisions and roots. */
  TRANSCENDENTAL("transcendental", Dimension.ELEMENTS_PER_CYCLE),
  /** Two passes over each line and a root. */
  NORM("norm", Dimension.ELEMENTS_PER_CYCLE),
  SOFTMAX("softmax", Dimension.ELEMENTS_PER_CYCLE),
  /** Sums, maxima and comparisons. */
  REDUCTION("reduction", Dimension.ELEMENTS_PER_CYCLE),
  /** Copies. */
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

  /** Returns the dimension of its throughput. */
  public Dimension rate() {
    return rate;
  }

  public static Optional<KernelClass> of(String text) {
    return Arrays.stream(values()).filter(kernel -> kernel.text.equals(text)).findFirst();
  }
}
