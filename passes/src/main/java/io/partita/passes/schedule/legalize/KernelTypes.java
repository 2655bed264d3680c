package io.partita.passes.schedule.legalize;

import io.partita.ir.function.Combine;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Op;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.type.ElementType;

/** The element types for which the runtime has kernels of products and scatters. */
public final class KernelTypes {
  private KernelTypes() {}

  /** Whether a matrix product of such operands has a kernel, with sums of 32 bits. */
  public static boolean hasProduct(ElementType left, ElementType right) {
    return KernelTable.has("gemm_" + operands(left, right));
  }

  public static boolean hasConvolution(ElementType data, ElementType weight) {
    return KernelTable.has("convolution_" + operands(data, weight));
  }

  /** Whether elements or rows can be written or combined at indices of such a type. */
  public static boolean hasScatter(Combine reduction, ElementType element, ElementType indices) {
    return indices == ElementType.I64 && KernelTable.has(scatter(reduction, element));
  }

  /** Returns the name of the kernel that writes or combines them. */
  public static String scatter(Combine reduction, ElementType element) {
    return reduction == Combine.REPLACE
        ? "scatter_" + element.bits()
        : "scatter_" + reduction.text() + "_" + element;
  }

  /** Returns the types in names of kernels; for floats, the common type of both operands. */
  public static String operands(ElementType left, ElementType right) {
    return left.isFloat() && left == right ? left.text() : left + "_" + right;
  }

  /** Whether an operation has a kernel for its first two operands. */
  static boolean hasKernel(Op op, ElementType left, ElementType right) {
    return switch (op) {
      case Contraction.MatMul product -> hasProduct(left, right);
      case Contraction.Convolution convolution -> hasConvolution(left, right);
      case Op other -> false;
    };
  }
}
