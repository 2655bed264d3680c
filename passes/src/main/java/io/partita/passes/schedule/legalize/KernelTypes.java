package io.partita.passes.schedule.legalize;

import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement.ScatterReduction;
import io.partita.ir.op.Op;
import io.partita.ir.type.ElementType;
import java.util.Set;

/** The element types of operands for which the runtime has kernels that sum products. */
public final class KernelTypes {
  private static final Set<String> PRODUCTS =
      Set.of(
          "f32_f32", "i8_i8", "i8_u8", "u8_i8", "u8_u8", "i16_i8", "i16_i16", "i32_i8", "i32_u8",
          "i32_i32");

  private static final Set<String> CONVOLUTIONS =
      Set.of("f32_f32", "i8_i8", "u8_i8", "i32_i8", "i32_i32");

  private static final Set<ElementType> SCATTERED =
      Set.of(ElementType.F32, ElementType.I32, ElementType.I64);

  private KernelTypes() {}

  /** Whether a matrix product of such operands has a kernel, with sums of 32 bits. */
  public static boolean hasProduct(ElementType left, ElementType right) {
    return PRODUCTS.contains(left.text() + "_" + right.text());
  }

  public static boolean hasConvolution(ElementType data, ElementType weight) {
    return CONVOLUTIONS.contains(data.text() + "_" + weight.text());
  }

  /** Whether elements, or rows, can be written, or joined, at places of such indices. */
  public static boolean hasScatter(
      ScatterReduction reduction, ElementType element, ElementType indices) {
    return indices == ElementType.I64
        && (reduction == ScatterReduction.REPLACE
            ? element.bits() >= Byte.SIZE
            : SCATTERED.contains(element));
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
