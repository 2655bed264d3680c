package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.schedule.eval.Kernel;
import io.partita.ir.schedule.eval.KernelTable;
import org.junit.jupiter.api.Test;

/**
 * Kernels of the runtime and of the evaluator of schedules are the same. That they compute the same
 * is verified with each call of a test: {@link Kernels#run}.
 */
class KernelMeaningTest {
  @Test
  void eachKernelHasAMeaning() {
    KernelHeaders headers = KernelHeaders.read();
    assertThat(KernelTable.all().stream().map(Kernel::function))
        .containsExactlyElementsOf(headers.kernels());
    assertThat(headers.kernels()).hasSizeGreaterThan(400);
  }

  @Test
  void eachStructIsAKernels() {
    KernelHeaders headers = KernelHeaders.read();
    for (Kernel kernel : KernelTable.all()) {
      assertThat(headers.fields(kernel.struct())).as(kernel.struct()).isNotEmpty();
    }
  }
}
