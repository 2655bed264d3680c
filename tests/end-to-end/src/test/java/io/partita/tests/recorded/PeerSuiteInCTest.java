package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.Distribution;
import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.passes.mesh.shard.Strategy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The test networks of Deeploy as C for Siracusa, run on this host: integers are bit-identical to
 * the recorded ones, floats within the evaluator's tolerance.
 */
@Order(Integer.MAX_VALUE - 1)
class PeerSuiteInCTest {
  /** The networks with something to split, on several chips. */
  private static final String MODELS = "Models";

  /** One in this many networks is tested by default. */
  private static final int REPRESENTATIVE = 16;

  /** One in this many is among the thorough tests. */
  private static final int THOROUGH = 3;

  /** This tests tiles, not the compiler's optimisation. */
  private static final String FLAGS = "-O1";

  /** Compiled once. */
  @TempDir private static Path kernels;

  @BeforeEach
  void requireCompiler() {
    boolean canBuild = Build.find("make").isPresent() && Build.find("cc").isPresent();
    if (!canBuild) {
      System.out.println("SKIPPED: no make and cc on the path, so no emitted C was run");
    }
    assumeThat(canBuild).as("make and cc").isTrue();
  }

  private static Path suite() {
    return SharedFolder.require(
        "peer-suite",
        "copy folders of DeeployTest/Tests from https://github.com/pulp-platform/Deeploy");
  }

  private static CaseRunner runner(
      ChipTarget target, Optional<Strategy> strategy, String transfers) {
    ChipRunner chips =
        new ChipRunner(
            target,
            strategy.map(Sharding::of),
            Port.HOST,
            FLAGS,
            List.of("--transfers", transfers),
            kernels);
    return new CaseRunner(chips, StandardPasses.forChecking(Target.SIRACUSA), Tolerance.DEFAULT);
  }

  private static void assertPasses(CaseResult result) {
    assertThat(result.status()).as(result.line()).isEqualTo(CaseResult.Status.PASS);
  }

  @Test
  void sampledNetworksPass() {
    assertPass(number -> number % REPRESENTATIVE == 0);
  }

  @Tag("thorough")
  @Test
  void moreNetworksPass() {
    assertPass(number -> number % REPRESENTATIVE != 0 && number % THOROUGH == 0);
  }

  @Tag("exhaustive")
  @Test
  void otherNetworksPass() {
    assertPass(number -> number % REPRESENTATIVE != 0 && number % THOROUGH != 0);
  }

  private static void assertPass(IntPredicate chosen) {
    ChipTarget target = ChipTarget.of("siracusa:chips=1", Map.of());
    CaseRunner runner = runner(target, Optional.empty(), "early");
    List<TestCase> all = TestCase.find(suite());
    List<CaseResult> results =
        IntStream.range(0, all.size())
            .filter(chosen)
            .mapToObj(number -> runner.run(all.get(number)))
            .toList();
    assertThat(results).isNotEmpty().allSatisfy(PeerSuiteInCTest::assertPasses);
  }

  /** Tests with as little L1 as in the peer's tests. */
  @Tag("thorough")
  @Test
  void someNetworksPassInTheSmallestMemory() throws IOException {
    assertPassInTheSmallestMemory(number -> number % THOROUGH == 0);
  }

  @Tag("exhaustive")
  @Test
  void otherNetworksPassInTheSmallestMemory() throws IOException {
    assertPassInTheSmallestMemory(number -> number % THOROUGH != 0);
  }

  private static void assertPassInTheSmallestMemory(IntPredicate chosen) throws IOException {
    Path suite = suite();
    Map<String, Long> sizes = sizes();
    List<CaseResult> results = new ArrayList<>();
    int number = 0;
    for (TestCase test : TestCase.find(suite)) {
      Long bytes = sizes.remove(suite.relativize(Path.of(test.name())).toString());
      if (bytes != null && chosen.test(number++)) {
        Quantity l1 = new Quantity(bytes, Unit.B);
        ChipTarget target = ChipTarget.of("siracusa:chips=1", Map.of("l1", l1));
        results.add(runner(target, Optional.empty(), "late").run(test));
      }
    }
    assertThat(sizes).as("sizes for networks that aren't there").isEmpty();
    assertThat(results).isNotEmpty().allSatisfy(PeerSuiteInCTest::assertPasses);
  }

  private static Map<String, Long> sizes() throws IOException {
    Map<String, Long> sizes = new LinkedHashMap<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    PeerSuiteInCTest.class.getResourceAsStream("/peer-suite/l1-bytes.txt")),
                StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.startsWith("#")) {
          String[] words = line.split(" ");
          sizes.put(words[0], Long.parseLong(words[1]));
        }
      }
    }
    return sizes;
  }

  @Tag("exhaustive")
  @Test
  void modelsPassOnSeveralChips() {
    ChipTarget target = ChipTarget.of("siracusa:chips=4", Map.of());
    CaseRunner runner = runner(target, Distribution.strategy(4, null), "early");
    List<CaseResult> results =
        TestCase.find(suite().resolve(MODELS)).stream().map(runner::run).toList();
    assertThat(results).isNotEmpty().allSatisfy(PeerSuiteInCTest::assertPasses);
  }
}
