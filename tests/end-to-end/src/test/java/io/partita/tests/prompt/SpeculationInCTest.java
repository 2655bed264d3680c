package io.partita.tests.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.java.DeviceHosting;
import io.partita.driver.Compilation;
import io.partita.driver.CompilationTarget;
import io.partita.driver.JavaTarget;
import io.partita.driver.SyncSelection;
import io.partita.driver.chip.ChipTarget;
import io.partita.driver.text.ChipModel;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import io.partita.driver.text.LanguageModel;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.tests.recorded.EmittedC;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two groups of chips speculate on attention: emitted C skips what Java skips. */
@Timeout(600)
class SpeculationInCTest {
  private static final int CHUNK = 4;
  private static final int TOKENS = 24;

  /** After a threshold: the approximation is sent. */
  private static final String SENT = ",guess=sent";

  /** Kernels are compiled once for all tests. */
  @TempDir static Path kernels;

  @TempDir Path folder;

  @BeforeAll
  static void requireCompiler() {
    assumeThat(Build.find("gcc").isPresent() && Build.find("make").isPresent())
        .as("gcc and make")
        .isTrue();
  }

  /** Without hits, speculating chips compute what the chips of one group compute alone, exactly. */
  @Tag("thorough")
  @Test
  void missesGiveTheBitsOfTheExactProgram() {
    List<float[]> exact = inC("exact", 1, Optional.empty());
    assertThat(inC("missing", 2, Optional.of("0"))).usingRecursiveComparison().isEqualTo(exact);
    assertThat(inC("sending", 2, Optional.of("0" + SENT)))
        .usingRecursiveComparison()
        .isEqualTo(exact);
    String role = text("missing/role_1.c");
    assertThat(role).contains("const int region_", "if (region_");
  }

  @ParameterizedTest
  @CsvSource({"4, 0", "2, '0.2,guess=sent'"})
  @Tag("thorough")
  void allOutcomesAgreeWithJava(int chips, String lambda) {
    requireSame(chips, lambda);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"2, 0.2", "4, 1000", "4, '0.2,guess=sent'", "2, '1000,guess=sent'"})
  void otherOutcomesAgreeWithJava(int chips, String lambda) {
    allOutcomesAgreeWithJava(chips, lambda);
  }

  @Test
  @Tag("exhaustive")
  void missesOfFourChipsGiveTheBitsOfTwo() {
    List<float[]> exact = inC("exact", 2, Optional.empty());
    assertThat(inC("missing", 4, Optional.of("0"))).usingRecursiveComparison().isEqualTo(exact);
  }

  private void requireSame(int chips, String lambda) {
    List<float[]> expected = inJava(chips, lambda);
    List<float[]> found = inC("c", chips, Optional.of(lambda));
    for (int i = 0; i < TOKENS; i++) {
      for (int score = 0; score < expected.get(i).length; score++) {
        assertThat(found.get(i)[score])
            .as("token %d", i)
            .isCloseTo(expected.get(i)[score], within(2e-4f));
      }
    }
  }

  private List<float[]> inJava(int chips, String lambda) {
    Path out = compile("java", chips, Optional.of(lambda), JavaTarget.USUAL);
    return scores(new JavaModel(out, new DeviceHosting.Threads()), out);
  }

  private List<float[]> inC(String name, int chips, Optional<String> lambda) {
    Path out = compile(name, chips, lambda, ChipTarget.of("siracusa:chips=" + chips, Map.of()));
    Build.run(out, Port.HOST, List.of("FLAGS=" + EmittedC.SANITISED, "HOST_KERNELS=" + kernels));
    return scores(new ChipModel(out, Port.HOST, List.of(), Duration.ofMinutes(5)), out);
  }

  private Path compile(String name, int chips, Optional<String> lambda, CompilationTarget target) {
    Path out = folder.resolve(name);
    SyncSelection selection =
        new SyncSelection(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            lambda.map(text -> "lambda=" + text + ",chunk=" + CHUNK));
    Optional<Strategy> strategy =
        chips == 1 ? Optional.empty() : Optional.of(Strategy.tensor(chips));
    new Compilation(note -> {}, step -> {})
        .compile(PromptedDecoder.request(1), selection.sharding(strategy), target, out);
    return out;
  }

  private static List<float[]> scores(CompiledModel program, Path out) {
    List<float[]> all = new ArrayList<>();
    try (LanguageModel model = new LanguageModel(program, out)) {
      List<Integer> tokens = new ArrayList<>(List.of(30));
      for (int i = 0; i < TOKENS; i++) {
        all.add(model.next(tokens).clone());
        tokens.add((13 * i + 7) % 60);
      }
    }
    return all;
  }

  private String text(String file) {
    try {
      return Files.readString(folder.resolve(file));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
