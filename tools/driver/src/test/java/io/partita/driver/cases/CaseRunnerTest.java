package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.java.BackendCode;
import io.partita.frontend.onnx.ImportCode;
import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.Pipeline;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CaseRunnerTest {
  private static final TestCase TEST =
      TestCase.find(Path.of("..", "..", "tests", "models", "tiny-shakespeare", "decode"))
          .getFirst();

  /** Runs a case with a backend that ends with a diagnostic. */
  private static CaseResult result(DiagnosticCode code) {
    ModuleRunner runner =
        module -> {
          throw new PartitaException(code, "here", "", "broken", "mend it");
        };
    return new CaseRunner(runner, new Pipeline(List.of()), Tolerance.DEFAULT).run(TEST);
  }

  @Test
  void faultyEmittedCodeFails() {
    for (DiagnosticCode code :
        List.of(
            BackendCode.EMITTED_SOURCE,
            BackendCode.PROGRAM_FAILED,
            ProgramCode.BUILD_FAILED,
            ProgramCode.PROGRAM_STOPPED)) {
      CaseResult result = result(code);
      assertThat(result.status()).isEqualTo(CaseResult.Status.FAIL);
      assertThat(result.codes()).containsExactly(code.id());
      assertThat(result.detail()).contains(code.id(), "broken", "here");
    }
  }

  @Test
  void refusedModelsAreUnsupported() {
    assertThat(result(ImportCode.UNSUPPORTED_OPERATOR).status())
        .isEqualTo(CaseResult.Status.UNSUPPORTED);
  }

  @Test
  void missingToolsEndTheCheck() {
    assertThatThrownBy(() -> result(ProgramCode.NO_PROGRAM)).isInstanceOf(PartitaException.class);
  }
}
