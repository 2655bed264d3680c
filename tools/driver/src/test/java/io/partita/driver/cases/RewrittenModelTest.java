package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.ir.graph.Module;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.SyncRules;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests checks of programs whose syncs are rewritten, against recordings of the exact model. */
class RewrittenModelTest {
  private static final TestCase TEST =
      TestCase.find(Path.of("..", "..", "tests", "models", "tiny-shakespeare", "decode"))
          .getFirst();

  private static CaseResult check(
      String rules, Tolerance tolerance, UnaryOperator<Tensor> program) {
    Sharding sharding =
        new Sharding(Strategy.tensor(4), SyncRewrites.of(SyncRules.parse(rules, Optional.empty())));
    ModuleRunner runner =
        module -> {
          Module distributed = sharding.run(module);
          return inputs -> MeshEvaluator.run(distributed, inputs).stream().map(program).toList();
        };
    return new CaseRunner(runner, StandardPasses.usual(), tolerance, Optional.of(sharding))
        .run(TEST);
  }

  private static Tensor scaled(Tensor tensor, double factor) {
    double[] elements = tensor.doubles().clone();
    for (int i = 0; i < elements.length; i++) {
      elements[i] *= factor;
    }
    return Tensor.ofDoubles(tensor.type(), elements);
  }

  @Test
  void theCostOfRewritesIsReported() {
    CaseResult dropped = check("blocks 3: drop", Tolerance.DEFAULT, output -> output);
    assertThat(dropped.line())
        .startsWith("PASS")
        .contains("rewritten syncs change results by up to", "so they do in the reference");
    assertThat(dropped.rewriteError().getAsDouble()).isBetween(0.1, 0.3);
    CaseResult rounded = check("bf16", Tolerance.DEFAULT, output -> scaled(output, 1.002));
    assertThat(rounded.line()).startsWith("PASS").contains("which rounds codes differently");
    assertThat(rounded.rewriteError().getAsDouble()).isLessThan(0.02);
  }

  @Test
  void wrongProgramsFail() {
    for (double factor : List.of(1.05, 0.5, 0.0, -1.0)) {
      assertThat(check("bf16", Tolerance.DEFAULT, output -> scaled(output, factor)).line())
          .as("factor %s", factor)
          .startsWith("FAIL")
          .contains("in the evaluation of the model with these syncs");
    }
    assertThat(check("drop", Tolerance.DEFAULT, output -> scaled(output, 0)).status())
        .isEqualTo(CaseResult.Status.FAIL);
  }

  @Test
  void aChosenToleranceDecides() {
    Tolerance tight = new Tolerance(OptionalDouble.of(1e-3), OptionalDouble.empty());
    assertThat(check("blocks 3: drop", tight, output -> output).line())
        .startsWith("FAIL")
        .contains("expected", "; rewritten syncs change results by up to");
    Tolerance wide = new Tolerance(OptionalDouble.empty(), OptionalDouble.of(100));
    assertThat(check("blocks 3: drop", wide, output -> output).line())
        .startsWith("PASS")
        .contains("rewritten syncs change results by up to");
    assertThat(check("exact", Tolerance.DEFAULT, output -> output))
        .matches(result -> result.detail().isEmpty() && result.rewriteError().isEmpty());
  }
}
