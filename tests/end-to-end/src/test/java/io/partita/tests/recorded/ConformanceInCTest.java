package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.TestCase;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Some of ONNX's own node tests as C for Siracusa, run on this host; {@link SupportedModelsTest}
 * runs all. None may be wrong; operations without a kernel are listed.
 */
class ConformanceInCTest {
  /** The number of cases per program: a larger one takes longer to schedule than to build. */
  private static final int AT_ONCE = 60;

  private static final double MAX_UNSUPPORTED = 0.03;

  /** One in this many cases is tested. */
  private static final int REPRESENTATIVE = 16;

  static List<TestCase> all() {
    return TestCase.find(
        SharedFolder.require(
            "conformance/onnx-node",
            "dump the cases of onnx.backend.test.case.node, of the Python package onnx 1.23.2, as"
                + " NAME/model.onnx and NAME/test_data_set_0/{input,output}_I.pb"));
  }

  @Tag("thorough")
  @Test
  void sampledCasesPassOrAreUnsupported() {
    EmittedC.requireCompiler();
    List<TestCase> all = all();
    verified(
        IntStream.range(0, all.size())
            .filter(number -> number % REPRESENTATIVE == 0)
            .mapToObj(all::get)
            .toList());
  }

  /** Runs cases, none of which may be wrong, and few unsupported. */
  static CasesInC verified(List<TestCase> cases) {
    CasesInC run = new CasesInC(AT_ONCE);
    run.run(cases);
    assertThat(run.wrong().stream().map(CaseResult::line)).isEmpty();
    int unsupported = cases.size() - run.passed();
    assertThat(unsupported)
        .as("unsupported: %s", run.unsupported())
        .isLessThanOrEqualTo((int) (MAX_UNSUPPORTED * cases.size()));
    return run;
  }
}
