package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.RunProfile;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.run.BatchProgram;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs built with {@code PROFILE=runs} record each run by what the chip did. */
@Timeout(900)
class ProfiledRunsTest {
  private static final long TOKENS = 4;

  @TempDir private Path folder;

  @Test
  void onTheHost() throws IOException {
    EmittedC.requireCompiler();
    verify(2, 200, Port.HOST, List.of("FLAGS=-O0 -Wno-error=frame-larger-than="), List.of());
  }

  @Tag("thorough")
  @Test
  void onQemu() throws IOException {
    EmittedC.requireQemu();
    verify(1, 300, Port.QEMU, List.of(), List.of());
  }

  @Test
  void onSimulatedChips() throws IOException {
    EmittedC.requireGvsoc();
    verify(2, 200, Port.GVSOC, List.of(), EmittedC.gvsocOptions());
  }

  /**
   * The bytes of each chip's last run are the predicted ones, and the cycles that have a reason are
   * some of all.
   *
   * @param l2 the KiB of L2, so few that weights come from L3 during a run
   */
  private void verify(int chips, int l2, Port port, List<String> variables, List<String> options)
      throws IOException {
    ChipTarget target =
        ChipTarget.of("siracusa:chips=" + chips, Map.of("l2", new Quantity(l2, Unit.KIB)));
    OutputFolder.write(
        target.backend().emit(Distribution.program(prompt(chips))).files(), folder, path -> false);
    List<String> all = new ArrayList<>(variables);
    all.add("PROFILE=runs");
    Build.run(folder, port, all);
    Tensor tokens = Tensor.filled(TensorType.of(ElementType.I64, 1, TOKENS), 1);
    Path files = folder.resolve("run");
    Files.createDirectories(files);
    BatchProgram program = new BatchProgram(folder, "build/runs", port, Duration.ofMinutes(10));
    program.run(List.of(List.of(tokens), List.of(tokens)), options, files);
    BatchProgram.ProfiledRuns ran = program.profiledRuns(2, files);

    assertThat(ran.outputs().getLast()).isEqualTo(ran.outputs().getFirst());
    List<PredictedRun.Chip> predicted = PredictedRun.read(folder).chips();
    assertThat(ran.profiles()).hasSize(chips);
    for (int chip = 0; chip < chips; chip++) {
      RunProfile run = ran.profiles().get(chip);
      assertThat(run.moved()).isEqualTo(StepFigures.moved(predicted.get(chip).figures()));
      assertThat(run.moved().farHome()).isPositive();
      assertThat(run.start()).isPositive();
      assertThat(run.computeCycles()).isPositive();
      assertThat(run.l3Cycles()).isPositive();
      assertThat(run.linkCycles() > 0).isEqualTo(chips > 1);
      assertThat(run.otherCycles()).isPositive();
    }
  }

  private static Module prompt(int chips) throws IOException {
    Module module =
        new Compilation(note -> {}, step -> {})
            .prepare(
                new Compilation.Request(
                    Path.of("../models/tiny-shakespeare/prefill/network.onnx"),
                    Map.of("seq", TOKENS),
                    Map.of(),
                    null));
    return Distribution.strategy(chips, "tensor")
        .map(strategy -> new ShardPass(strategy).run(module))
        .orElse(module);
  }
}
