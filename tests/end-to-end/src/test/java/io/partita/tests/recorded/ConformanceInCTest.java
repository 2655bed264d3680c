package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.siracusa.run.Port;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ONNX's own node tests as C for Siracusa, run on this host. */
class ConformanceInCTest {
  /** As many cases as one program has: the modelled memory is checked byte by byte. */
  private static final int AT_ONCE = 60;

  private static final double MOST_UNSUPPORTED = 0.03;

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
  @Tag("thorough")
  void noCaseIsWrongAndFewAreUnsupported() {
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
    run.wrong().forEach(result -> System.out.println(result.line()));
    System.out.printf("conformance through C: %d of %d cases pass%n", run.passed(), cases.size());
    run.unsupported()
        .forEach((reason, names) -> System.out.println(reason + ": " + String.join(", ", names)));
    assertThat(run.wrong()).isEmpty();
    assertThat(cases.size() - run.passed())
        .isLessThanOrEqualTo((int) (MOST_UNSUPPORTED * cases.size()));
  }
}
