package io.partita.passes.schedule.legalize;

import io.partita.ir.function.Combine;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.type.ElementType;

/** The element types of operands for which the runtime has kernels that sum products. */
public final class KernelTypes {
  private KernelTypes() {}

  /** Whether a matrix product of such operands has a kernel, with sums of 32 bits. */
  public static boolean hasProduct(ElementType left, ElementType right) {
    return KernelTable.has("gemm_" + operands(left, right));
  }

  public static boolean hasConvolution(ElementType data, ElementType weight) {
    return KernelTable.has("convolution_" + operands(data, weight));
  }

  /** Whether elements, or rows, can be written, or joined, at places of such indices. */
  public static boolean hasScatter(Combine reduction, ElementType element, ElementType indices) {
    return indices == ElementType.I64 && KernelTable.has(scatter(reduction, element));
  }

  /** The name of the kernel that writes or joins them. */
  public static String scatter(Combine reduction, ElementType element) {
    return reduction == Combine.REPLACE
        ? "scatter_" + element.bits()
        : "scatter_" + reduction.text() + "_" + element;
  }

  /** Kernels of floats are named by the one type that both operands have. */
  public static String operands(ElementType left, ElementType right) {
    return left.isFloat() && left == right ? left.text() : left + "_" + right;
  }

  /** Whether the operation has a kernel for its first two operands. */
  static boolean hasKernel(Op op, ElementType left, ElementType right) {
    return switch (op) {
      case Contraction.MatMul product -> hasProduct(left, right);
      case Contraction.Convolution convolution -> hasConvolution(left, right);
      case Op other -> false;
    };
  }
}
