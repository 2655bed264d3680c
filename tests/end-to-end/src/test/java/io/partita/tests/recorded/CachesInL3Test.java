package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Distribution;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Module;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** If L2 is too small for all caches, some are streamed like weights, and the text is the same. */
@Timeout(1200)
@Tag("thorough")
class CachesInL3Test {
  private static final int CONTEXT = 256;

  private final TrainedModel model = TrainedModel.named(TrainedModel.TINY);

  private ChipTarget target(int kibibytes, Optional<Strategy> strategy) throws IOException {
    ChipTarget target = EmittedC.withL2(kibibytes);
    Module module = CachedDecoder.withCaches(model.network("decode"), CONTEXT);
    Module distributed = strategy.map(chosen -> new ShardPass(chosen).run(module)).orElse(module);
    ByteArrayOutputStream role = new ByteArrayOutputStream();
    for (EmittedFile file : target.backend().emit(Distribution.program(distributed)).files()) {
      if (file.path().equals("role_0.c")) {
        file.content().writeTo(role);
      }
    }
    assertThat(role.toString(StandardCharsets.UTF_8)).contains("partita_clear_l3(");
    return target;
  }

  @ParameterizedTest(name = "{0} chips, {1} KiB of L2, {2}")
  @CsvSource("2, 200, late")
  void sanitizersFindNothing(int chips, int kibibytes, String transfers) throws IOException {
    EmittedC.requireCompiler();
    Optional<Strategy> strategy = Distribution.strategy(chips, null);
    ChipTarget target = target(kibibytes, strategy);
    GreedyText.writes(model, 48, EmittedC.sanitised(target, strategy, transfers));
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} chips, {1} KiB of L2, {2}")
  @CsvSource("1, 220, early")
  void sanitizersFindNothingOnOneChip(int chips, int kibibytes, String transfers)
      throws IOException {
    sanitizersFindNothing(chips, kibibytes, transfers);
  }

  @Test
  void underQemu() throws IOException {
    EmittedC.requireQemu();
    ChipTarget target = target(220, Optional.empty());
    GreedyText.writes(model, 48, EmittedC.underQemu(target));
  }

  @Test
  void onSimulatedChips() throws IOException {
    EmittedC.requireGvsoc();
    ChipTarget target = target(220, Optional.empty());
    GreedyText.writes(model, 40, EmittedC.simulated(target, Optional.empty()));
  }
}
