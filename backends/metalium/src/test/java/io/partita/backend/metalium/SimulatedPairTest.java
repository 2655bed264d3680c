package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.backend.metalium.simulator.SimulatedProgram;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Correlation;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.program.localize.Localization;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs host programs and kernels of two chips with {@code ttnn} on simulated ones: their packets go
 * through the routers of its fabric.
 */
@Tag("thorough")
class SimulatedPairTest {
  private static final Duration LIMIT = Duration.ofMinutes(15);

  /** The approximation is close enough for some tokens, and not for others. */
  private static final double LAMBDA = 0.6;

  @TempDir Path folder;

  /** Products of parts of the inner features, of which an exchange makes whole sums. */
  @Test
  void chipsSumTheirProducts() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              graph @layers(%x: f32[33,64]) -> ("y": f32[33,64]) {
                %u = constant UP : f32[64,128]
                %d = constant DOWN : f32[128,64]
                %0 = linear(%x, %u) : f32[33,128] "up"
                %1 = silu(%0) : f32[33,128] "silu"
                %2 = linear(%1, %d) : f32[33,64] "down"
                %3 = add(%x, %2) : f32[33,64] "residual"
                return %3
              }
            }
            """
                .replace("UP", SeveralChipsTest.gaussian(2, 64 * 128))
                .replace("DOWN", SeveralChipsTest.gaussian(3, 128 * 64)));
    Module mesh =
        ChooseAlgorithms.byDeviceCount().run(new ShardPass(Strategy.tensor(2)).run(module));
    EmittedMetalium emitted =
        new MetaliumBackend(TargetLibrary.find("n300"))
            .emit(Localization.of(mesh, 1), Optional.empty());
    OutputFolder.write(emitted.files(), folder.resolve("program"), path -> false);
    SimulatedProgram program =
        WithTtsim.pair(
            folder.resolve("program"), emitted.description().whole(), folder.resolve("work"));
    List<Tensor> inputs = EmittedKernelsTest.gaussians(new Random(5), module);
    double[] expected = Evaluator.run(module.graph(), inputs).getFirst().doubles();
    double[] found = program.run(inputs, LIMIT).getFirst().doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(0.9999);
    assertLaunchesAgree(program, inputs);
  }

  /** Each chip's results, and messages. */
  private static void assertLaunchesAgree(SimulatedProgram program, List<Tensor> inputs) {
    ProbeComparison.Result result =
        new KernelComparison(program, LIMIT, program.tolerance()).run(inputs);
    assertThat(result.finding()).isEmpty();
    assertThat(result.message()).isEmpty();
    assertThat(result.chips()).isEqualTo(2);
  }

  /** Each chip computes what the word of its cores tells it; tokens have both outcomes. */
  @Test
  void chipsSpeculateOnAttention() {
    int tokens = 8;
    Program program = SpeculatingChipsTest.program(2, LAMBDA, 2, tokens);
    List<double[]> expected = SpeculatingChipsTest.expected(program, tokens);
    double tolerance = SpeculatingChipsTest.tolerance("f32", expected);
    for (double other : new double[] {0, 1000}) {
      Program uniform = SpeculatingChipsTest.program(2, other, 2, tokens);
      assertThat(
              SpeculatingChipsTest.distance(
                  expected, SpeculatingChipsTest.expected(uniform, tokens)))
          .isGreaterThan(2 * tolerance);
    }
    EmittedMetalium emitted = SpeculatingChipsTest.emit(program);
    OutputFolder.write(emitted.files(), folder.resolve("program"), path -> false);
    SimulatedProgram simulated =
        WithTtsim.pair(
            folder.resolve("program"), emitted.description().whole(), folder.resolve("work"));
    try (KernelSession session = new KernelSession(simulated, LIMIT)) {
      for (int token = 0; token < tokens; token++) {
        List<Tensor> inputs = List.copyOf(SpeculatingChipsTest.token(program, token).values());
        assertThat(session.run(inputs).getFirst().doubles())
            .as("token %d", token)
            .containsExactly(expected.get(token), within(tolerance));
      }
    }
    // At the last position, with empty caches before.
    assertLaunchesAgree(
        simulated, List.copyOf(SpeculatingChipsTest.token(program, tokens - 1).values()));
  }
}
