package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.run.Port;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * ONNX's own node tests as C for Siracusa, run on this host. None may be wrong; operations without
 * a kernel are listed.
 */
class ConformanceInCTest {
  /** The number of cases per program: a larger one takes longer to schedule than to build. */
  private static final int AT_ONCE = 60;

  private static final double MAX_UNSUPPORTED = 0.03;

  /** The default run tests one in this many cases. */
  private static final int REPRESENTATIVE = 16;

  @TempDir private static Path kernels;

  @BeforeEach
  void requireCompiler() {
    EmittedC.requireCompiler();
  }

  private static List<TestCase> all() {
    return TestCase.find(
        SharedFolder.require(
            "conformance/onnx-node",
            "dump the cases of onnx.backend.test.case.node, of the Python package onnx 1.23.2, as"
                + " NAME/model.onnx and NAME/test_data_set_0/{input,output}_I.pb"));
  }

  @Test
  void sampledCasesPass() {
    List<TestCase> all = all();
    check(
        IntStream.range(0, all.size())
            .filter(number -> number % REPRESENTATIVE == 0)
            .mapToObj(all::get)
            .toList());
  }

  @Test
  @Tag("thorough")
  void casesPassOrAreUnsupported() {
    check(all());
  }

  private static void check(List<TestCase> cases) {
    ChipTarget target = ChipTarget.of("siracusa:chips=1", Map.of("l2", new Quantity(64, Unit.MIB)));
    ChipRunner chips =
        new ChipRunner(target, Optional.empty(), Port.HOST, "-O0", List.of(), kernels);
    CasesInC run = new CasesInC(target, chips);
    for (int from = 0; from < cases.size(); from += AT_ONCE) {
      run.run(cases.subList(from, Math.min(cases.size(), from + AT_ONCE)));
    }
    assertThat(run.wrong().stream().map(CaseResult::line)).isEmpty();
    int unsupported = cases.size() - run.passed();
    assertThat(unsupported)
        .as("unsupported: %s", run.unsupported())
        .isLessThanOrEqualTo((int) (MAX_UNSUPPORTED * cases.size()));
  }
}
