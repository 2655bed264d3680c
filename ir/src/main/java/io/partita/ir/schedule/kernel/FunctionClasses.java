package io.partita.ir.schedule.kernel;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.target.KernelClass;

/** The rate class of elementwise functions. */
public final class FunctionClasses {
  private FunctionClasses() {}

  public static KernelClass of(UnaryFunction function) {
    return of(function.isCostly());
  }

  public static KernelClass of(BinaryFunction function) {
    return of(function.isCostly());
  }

  private static KernelClass of(boolean isCostly) {
    return isCostly ? KernelClass.TRANSCENDENTAL : KernelClass.ELEMENTWISE;
  }
}
