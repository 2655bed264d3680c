package io.partita.passes.timing;

import io.partita.ir.op.BinaryFunction;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.target.KernelClass;

/** Which of a chip's rates the functions of elements have. */
public final class KernelClasses {
  private KernelClasses() {}

  public static KernelClass of(UnaryFunction function) {
    return KernelWorks.kernel(function);
  }

  public static KernelClass of(BinaryFunction function) {
    return KernelWorks.kernel(function);
  }
}
