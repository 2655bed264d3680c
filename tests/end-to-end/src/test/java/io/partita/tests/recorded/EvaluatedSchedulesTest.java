package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.driver.Sharding;
import io.partita.driver.StandardPasses;
import io.partita.driver.Target;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ScheduleRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.driver.chip.ChipTarget;
import io.partita.passes.mesh.shard.Strategy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Schedules of recorded models for Siracusa chips, evaluated in this process, give the recorded
 * results, read only written bytes, and write only where allowed.
 */
class EvaluatedSchedulesTest {
  private static final Path FIXTURES = Path.of("../fixtures");

  private static CaseResult run(TestCase test, int chips, Tolerance tolerance) {
    Optional<Strategy> strategy =
        chips == 1 ? Optional.empty() : Optional.of(Strategy.parse("tensor=" + chips));
    ScheduleRunner schedules =
        new ScheduleRunner(
            ChipTarget.of("siracusa:chips=" + chips, Map.of()), strategy.map(Sharding::of));
    return new CaseRunner(schedules, StandardPasses.forChecking(Target.SIRACUSA), tolerance)
        .run(test);
  }

  @ParameterizedTest
  @CsvSource({
    "bert/ts_eager_dynamic, 1",
    "llama/dynamo_sdpa_kv, 1",
    "llama/dynamo_sdpa_kv, 2",
    "vit/ts_sdpa_dynamic, 2"
  })
  void someFixtures(String fixture, int chips) {
    TestCase test = TestCase.find(FIXTURES.resolve(fixture)).getFirst();
    CaseResult result = run(test, chips, Tolerance.DEFAULT);
    assertThat(result.status()).as(result.line()).isEqualTo(CaseResult.Status.PASS);
  }

  private static void requireRightOrRefused(TestCase test, Tolerance tolerance) {
    for (int chips : new int[] {1, 2}) {
      CaseResult result = run(test, chips, tolerance);
      assertThat(result.status()).as(result.line()).isNotEqualTo(CaseResult.Status.FAIL);
      assertThat(result.codes()).noneMatch(code -> code.startsWith("P441"));
    }
  }

  /** Every sixth one; {@link SupportedModelsTest} runs all in C. */
  static List<Fixture> fixtures() {
    List<Fixture> all = Fixture.all();
    return IntStream.range(0, all.size()).filter(i -> i % 6 == 0).mapToObj(all::get).toList();
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("fixtures")
  void fixturesPassOrAreRefused(Fixture fixture) {
    requireRightOrRefused(fixture.recorded(), fixture.tolerance());
  }

  private static Stream<TestCase> networks(IntPredicate chosen) {
    List<TestCase> all = new ArrayList<>();
    SharedFolder.find("user-models", "see its README for the exporters")
        .ifPresent(folder -> all.addAll(TestCase.find(folder)));
    SharedFolder.find("peer-suite", "see its README")
        .ifPresent(folder -> all.addAll(TestCase.find(folder)));
    assumeThat(all).isNotEmpty();
    return IntStream.range(0, all.size()).filter(chosen).mapToObj(all::get);
  }

  static Stream<TestCase> someNetworks() {
    return networks(number -> number % 4 == 0);
  }

  static Stream<TestCase> otherNetworks() {
    return networks(number -> number % 4 != 0);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("someNetworks")
  void someNetworksPassOrAreRefused(TestCase test) {
    requireRightOrRefused(test, Tolerance.DEFAULT);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @MethodSource("otherNetworks")
  void otherNetworksPassOrAreRefused(TestCase test) {
    requireRightOrRefused(test, Tolerance.DEFAULT);
  }
}
