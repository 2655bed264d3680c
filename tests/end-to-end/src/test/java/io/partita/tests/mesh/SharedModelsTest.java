package io.partita.tests.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.mesh.SyncKind;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.tests.recorded.SharedFolder;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Trained models and the peer suite's integer networks run on several devices in lock step. */
class SharedModelsTest {
  /** Twice the tolerance of one device, since sums over devices are rounded once more. */
  private static final Tolerance TOLERANCE =
      new Tolerance(OptionalDouble.of(2e-3), OptionalDouble.of(2e-4));

  private static CaseResult run(TestCase test, Sharded sharded, Tolerance tolerance) {
    return new CaseRunner(sharded, StandardPasses.usual(), tolerance).run(test);
  }

  @ParameterizedTest
  @CsvSource({
    "mnist-vit, tensor=5, 6",
    "tiny-shakespeare/prefill, tensor=7, 4",
    "tiny-shakespeare/decode, tensor=16, 4"
  })
  void trainedModelsAgreeWithTheRecording(String name, String strategy, int blocks) {
    Path models = SharedFolder.require("models", "it comes with the project's data");
    Sharded sharded = new Sharded(Strategy.parse(strategy));
    TestCase test = TestCase.find(models.resolve(name)).getFirst();
    CaseResult result = run(test, sharded, TOLERANCE);
    assertThat(result.status()).as(result.detail()).isEqualTo(CaseResult.Status.PASS);
    assertThat(sharded.count(SyncKind.ALL_REDUCE))
        .isEqualTo(2L * blocks + (name.contains("vit") && blocks == 0 ? 1 : 0));
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({
    "mnist-vit, sequence=3, 0",
    "shakespeare-llama/prefill, tensor=4, 6",
    "shakespeare-llama/decode, tensor=3, 6"
  })
  void largerModelsAgreeWithTheRecording(String name, String strategy, int blocks) {
    trainedModelsAgreeWithTheRecording(name, strategy, blocks);
  }

  /** Integers are bit-identical; Llama in int8 has two sums per block. */
  @ParameterizedTest
  @ValueSource(ints = 2)
  void integerNetworksAreBitExact(int devices) {
    Path models = SharedFolder.require("peer-suite", "see PeerSuiteTest");
    for (String name :
        List.of(
            "Models/CCT/Int/ICCT",
            "Models/microLlama/INT8/microLlama1",
            "Models/microLlama/INT8/microLlama8_parallel",
            "Models/Transformer_DeepQuant")) {
      Sharded sharded = new Sharded(Strategy.tensor(devices));
      TestCase test = TestCase.find(models.resolve(name)).getFirst();
      CaseResult result = run(test, sharded, Tolerance.DEFAULT);
      assertThat(result.status()).as(name + result.detail()).isEqualTo(CaseResult.Status.PASS);
      assertThat(result.maxError()).isZero();
      if (name.contains("microLlama")) {
        assertThat(sharded.exchanges()).hasSize(16);
        assertThat(sharded.count(SyncKind.ALL_REDUCE)).isEqualTo(16);
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {3, 8})
  void integerNetworksOnOtherNumbersAreBitExact(int devices) {
    integerNetworksAreBitExact(devices);
  }

  @Test
  void integerKernelsAreBitExact() {
    Path kernels = SharedFolder.require("peer-suite", "see PeerSuiteTest").resolve("Kernels");
    List<TestCase> cases = TestCase.find(kernels.resolve("Integer"));
    assertThat(cases).hasSizeGreaterThanOrEqualTo(20);
    for (int i = 0; i < cases.size(); i++) {
      Sharded sharded = new Sharded(Strategy.tensor(2 + i % 4));
      CaseResult result = run(cases.get(i), sharded, Tolerance.DEFAULT);
      assertThat(result.status())
          .as(cases.get(i).name() + result.detail())
          .isEqualTo(CaseResult.Status.PASS);
    }
  }
}
