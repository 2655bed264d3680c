package io.partita.tests.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.ReshardPlace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What real exporters write, on 1 to 8 devices in lock step: the recorded results, two all-reduces
 * a block (one where attention and network read the same value) and no network weight twice.
 */
class ShardedFixtureTest {
  /** By fixture, the all-reduces of a block. */
  private static final Map<String, Integer> SYNCS =
      Map.ofEntries(
          Map.entry("llama/ts_sdpa_static", 2),
          Map.entry("llama/dynamo_sdpa_kv", 2),
          Map.entry("llama/dynamo_mqa", 2),
          Map.entry("llama/dynamo_f16", 2),
          Map.entry("gpt2/ts_eager_static", 2),
          Map.entry("gpt2/dynamo_sdpa_kv", 2),
          Map.entry("vit/dynamo_sdpa_static", 2),
          Map.entry("vit/ts_eager_static", 2),
          Map.entry("bert/ts_sdpa_dynamic", 2),
          Map.entry("gemma2/dynamo_eager", 2),
          Map.entry("gpt_neox/ts_eager", 1),
          // Attention and four networks: all that lies between is linear.
          Map.entry("mobilebert/dynamo_sdpa_dynamic", 5));

  static Stream<Arguments> fixturesAndDevices() {
    return SYNCS.keySet().stream()
        .sorted()
        .flatMap(name -> IntStream.rangeClosed(1, 8).mapToObj(n -> Arguments.of(name, n)));
  }

  @ParameterizedTest(name = "{0} on {1} devices")
  @MethodSource("fixturesAndDevices")
  void devicesTogetherGiveWhatIsRecorded(String name, int devices) throws IOException {
    Path folder = Path.of("../fixtures", name);
    Sharded sharded = new Sharded(devices);
    CaseResult result =
        new CaseRunner(sharded, StandardPasses.usual(), tolerance(folder))
            .run(TestCase.find(folder).getFirst());
    assertThat(result.status()).as(result.detail()).isEqualTo(CaseResult.Status.PASS);
    List<ReshardPlace> syncs = sharded.plan().syncs();
    int expected = (int) sharded.attentions() * SYNCS.get(name);
    assertThat(syncs).hasSize(devices == 1 ? 0 : expected);
    assertThat(syncs)
        .allMatch(sync -> sync.change().kinds().equals(Map.of(Sharded.AXIS, SyncKind.ALL_REDUCE)));
    verifyNothingTwice(sharded);
  }

  private static void verifyNothingTwice(Sharded sharded) {
    for (Node node : sharded.plan().graph().nodes()) {
      if (node.op() instanceof Structured.Ffn) {
        for (Value weight : node.operands().subList(1, node.operands().size())) {
          long bytes =
              sharded.plan().layout(weight).bytes(weight.type()).stream().mapToLong(b -> b).sum();
          if (weight.type().rank() == 2) {
            assertThat(bytes).as(weight.toString()).isEqualTo(weight.type().bytes());
          }
        }
      }
    }
  }

  /** What the fixture's maker allows a correct compiler; in parts, sums are rounded once more. */
  private static Tolerance tolerance(Path folder) throws IOException {
    Map<String, Object> facts = JSON.std.mapFrom(folder.resolve("fixture.json").toFile());
    double bound = 2 * ((Number) facts.get("tolerance")).doubleValue();
    return new Tolerance(OptionalDouble.of(bound), OptionalDouble.of(bound));
  }
}
