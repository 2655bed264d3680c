package io.partita.tests.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.text.ChipModel;
import io.partita.ir.target.Quantity;
import io.partita.tests.recorded.EmittedC;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Emitted C takes prompts in chunks and writes the text that Java writes token by token. */
@Timeout(600)
class PromptInCTest {
  private static List<Integer> tokenByToken;

  @TempDir Path folder;

  @BeforeAll
  static void writeTokenByToken(@TempDir Path first) {
    assumeThat(Build.find("gcc").isPresent() && Build.find("make").isPresent())
        .as("gcc and make")
        .isTrue();
    tokenByToken = PromptedDecoder.inJava(1, 1, first.resolve("out"));
  }

  @Tag("thorough")
  @Test
  void chunksWriteTheSameText() {
    assertThat(inC(3, 2, Map.of(), List.of(), List.of())).isEqualTo(tokenByToken);
  }

  /** With 180 or 230 KiB of L2, of which 128 are resident, weights and caches are streamed. */
  @ParameterizedTest(name = "{0} tokens at once on {1} chips with L2 of {2}, {3} transfers")
  @CsvSource({"5, 1, 180KiB, early", "3, 2, 230KiB, late"})
  @Tag("thorough")
  void sanitizersFindNothing(long chunk, int chips, String l2, String transfers) {
    assertThat(
            inC(
                chunk,
                chips,
                Map.of("l2", Quantity.parse(l2).orElseThrow()),
                List.of("FLAGS=" + EmittedC.SANITISED),
                List.of("--transfers", transfers)))
        .isEqualTo(tokenByToken);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} tokens at once on {1} chips with L2 of {2}, {3} transfers")
  @CsvSource({
    "3, 1, 1900KiB, late",
    "5, 1, 180KiB, late",
    "3, 2, 230KiB, early",
    "32, 1, 1900KiB, early"
  })
  void sanitizersFindNothingInOtherPrompts(long chunk, int chips, String l2, String transfers) {
    sanitizersFindNothing(chunk, chips, l2, transfers);
  }

  private List<Integer> inC(
      long chunk,
      int chips,
      Map<String, Quantity> settings,
      List<String> variables,
      List<String> options) {
    Path out = folder.resolve("out");
    new Compilation(note -> {}, step -> {})
        .compile(
            PromptedDecoder.request(chunk),
            Distribution.strategy(chips, null).map(Sharding::of),
            ChipTarget.of("siracusa:chips=" + chips, settings),
            out);
    Build.run(out, Port.HOST, variables);
    return PromptedDecoder.written(
        new ChipModel(out, Port.HOST, options, Duration.ofMinutes(5)), out);
  }
}
