package io.partita.tests.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.ir.mesh.Algorithm;
import io.partita.passes.mesh.shard.Strategy;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs of real exports, with messages, give the recorded results. */
class LocalizedFixtureTest {
  @ParameterizedTest(name = "{0} with {1} by {2}, {3} messages, {4} tiles")
  @CsvSource(
      delimiter = '|',
      value = {
        "gpt2/dynamo_sdpa_kv | tensor=3,norm=root | tree(4) | 0 | 1",
        "bert/ts_sdpa_dynamic | pipeline=2,tensor=3 | tree(2) | 1 | 2",
        "llama/ts_sdpa_static | tensor=7 | tree(4) | 0 | 2",
        "gemma2/dynamo_eager | tensor=2,norm=root | tree(4) | 1 | 2",
        "vit/ts_meanpool | sequence=16 | tree(4) | 1 | 1",
        "quantized/llama_qdq | tensor=6 | tree(3) | 1 | 1"
      })
  void programsAgreeWithTheRecording(
      String fixture, String strategy, String algorithm, int capacity, int tiles) {
    run(
        fixture,
        new Localized(
            Strategy.parse(strategy), Algorithm.parse(algorithm), capacity, tiles, false));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} with {1} by {2}, {3} messages, {4} tiles")
  @CsvSource(
      delimiter = '|',
      value = {
        "gpt2/dynamo_sdpa_kv | tensor=8,inside=2 | direct | 1 | 2",
        "gpt2/ts_sdpa_dynamic | pipeline=2,sequence=3 | ring | 0 | 1",
        "bert/ts_mlm_nomask | tensor=2,vocabulary=replicated | direct | 2 | 1",
        "llama/ts_mha | tensor=12,inside=3 | ring | 1 | 1",
        "llama/ts_mqa | sequence=2 | direct | 0 | 1",
        "llama/dynamo_sdpa_kv | tensor=2,pipeline=2,norm=root | tree(2) | 1 | 3",
        "llama/dynamo_mqa | tensor=5 | ring | 2 | 2",
        "phi/ts_eager | sequence=2,tensor=2 | direct | 1 | 1",
        "gpt_neox/ts_eager | sequence=3 | ring | 1 | 2",
        "gpt2/ts_sdpa_dynamic | tensor=3,norm=tokens | tree(2, pieces=5) | 1 | 1",
        "bert/dynamo_sdpa_static | tensor=4,norm=tokens | ring | 0 | 2",
        "vit/ts_eager_static | tensor=4,capacities=3:1:0:2 | tree(2) | 0 | 1",
        "mobilebert/dynamo_sdpa_dynamic | tensor=4 | tree(4) | 1 | 2",
        "torch_nn/ts_encoder_prenorm | sequence=7 | ring | 0 | 1"
      })
  void otherProgramsAgreeWithTheRecording(
      String fixture, String strategy, String algorithm, int capacity, int tiles) {
    programsAgreeWithTheRecording(fixture, strategy, algorithm, capacity, tiles);
  }

  @ParameterizedTest(name = "{0} with {1} by {2}, {3} tiles")
  @CsvSource(
      delimiter = '|',
      value = {"llama/ts_sdpa_static | tensor=4,norm=root | tree(4) | 2"})
  void emittedJavaWithOverlapAgreesWithTheRecording(
      String fixture, String strategy, String algorithm, int tiles) {
    run(
        fixture,
        new Localized(Strategy.parse(strategy), Algorithm.parse(algorithm), 1, tiles, true));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} with {1} by {2}, {3} tiles")
  @CsvSource(
      delimiter = '|',
      value = {
        "gpt2/dynamo_sdpa_kv | tensor=4 | direct | 2",
        "bert/ts_sdpa_dynamic | tensor=3 | tree(2) | 3",
        "vit/ts_eager_static | sequence=3 | ring | 2"
      })
  void otherOverlapsInJavaAgreeWithTheRecording(
      String fixture, String strategy, String algorithm, int tiles) {
    emittedJavaWithOverlapAgreesWithTheRecording(fixture, strategy, algorithm, tiles);
  }

  private static void run(String fixture, Localized localized) {
    TestCase test = TestCase.find(Path.of("../fixtures", fixture)).getFirst();
    CaseResult result =
        new CaseRunner(localized, StandardPasses.usual(), FixtureTolerance.of(test)).run(test);
    assertThat(result.status()).as(result.detail()).isEqualTo(CaseResult.Status.PASS);
  }
}
