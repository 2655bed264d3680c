package io.partita.ir.schedule.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.target.KernelClass;
import org.junit.jupiter.api.Test;

class FunctionClassesTest {
  @Test
  void functionsOfManyInstructionsHaveAClassOfTheirOwn() {
    assertThat(FunctionClasses.of(UnaryFunction.EXP)).isEqualTo(KernelClass.TRANSCENDENTAL);
    assertThat(FunctionClasses.of(UnaryFunction.NEG)).isEqualTo(KernelClass.ELEMENTWISE);
    assertThat(FunctionClasses.of(BinaryFunction.POW)).isEqualTo(KernelClass.TRANSCENDENTAL);
    assertThat(FunctionClasses.of(BinaryFunction.ADD)).isEqualTo(KernelClass.ELEMENTWISE);
  }
}
