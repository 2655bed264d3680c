package io.partita.tests.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.TestCase;
import io.partita.passes.mesh.shard.Strategy;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks the exchanges of each strategy, and that the devices give the recorded results. */
class StrategiesTest {
  @ParameterizedTest(name = "{0} with {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        // Per block, two sums go to the root and two norms come back; so does the first block's
        // input.
        "gpt2/dynamo_sdpa_kv | tensor=3,norm=root | 5 head=broadcast, 1 head=gather, 4 head=reduce",
        "bert/ts_sdpa_dynamic | tensor=4,norm=root | 5 head=broadcast, 1 head=gather, 4 head=reduce",
        "gemma2/dynamo_eager | tensor=2,norm=root | 5 head=broadcast, 1 head=gather, 4 head=reduce",
        "gpt_neox/ts_eager | tensor=5,norm=root | 5 head=broadcast, 1 head=gather, 2 head=reduce",
        // Sums are scattered by tokens, and norms gathered.
        "bert/ts_sdpa_dynamic | tensor=4,norm=tokens | 6 head=all_gather, 4 head=reduce_scatter",
        "gpt2/ts_sdpa_dynamic | tensor=2,norm=tokens | 6 head=all_gather, 4 head=reduce_scatter",
        "llama/ts_mqa | tensor=3,norm=tokens | 8 head=all_gather, 6 head=reduce_scatter",
        "vit/ts_eager_static | tensor=5,norm=tokens | 6 head=all_gather, 4 head=reduce_scatter",
        // Within the tokens of each pair of devices.
        "bert/ts_sdpa_dynamic | sequence=2,tensor=2,norm=tokens"
            + " | 6 head=all_gather, 4 head=reduce_scatter, 4 token=all_gather, 1 token=all_reduce",
        "llama/ts_mqa | sequence=3,tensor=2,norm=tokens"
            + " | 8 head=all_gather, 6 head=reduce_scatter, 6 token=all_gather",
        "llama/ts_sdpa_dynamic | sequence=2,tensor=4,norm=tokens"
            + " | 6 kv=all_gather+group=all_gather, 4 kv=reduce_scatter+group=reduce_scatter,"
            + " 4 token=all_gather",
        // Quantized products: their operands and results are gathered; floats are still summed.
        "quantized/llama_qdq | tensor=2,norm=columns | 9 head=all_gather",
        "quantized/bert_qdq | tensor=4,norm=columns | 9 head=all_gather",
        "quantized/vit_qoperator | tensor=3,norm=columns | 9 head=all_gather",
        "gpt2/dynamo_sdpa_kv | tensor=3,norm=columns | 1 head=all_gather, 4 head=all_reduce",
        // One head for each pair of devices: their halves of queries and keys are joined.
        "gpt2/dynamo_sdpa_kv | tensor=8,inside=2"
            + " | 1 head=all_gather+inside=all_gather, 4 head=all_reduce+inside=all_reduce,"
            + " 4 inside=all_gather",
        "llama/ts_mha | tensor=12,inside=3"
            + " | 1 head=all_gather+inside=all_gather, 4 head=all_reduce+inside=all_reduce,"
            + " 4 inside=all_gather",
        // Nothing for a device without capacity.
        "vit/ts_eager_static | tensor=4,capacities=3:1:0:2 | 1 head=all_gather, 4 head=all_reduce",
        "bert/ts_mlm_nomask | tensor=2,vocabulary=replicated | 1 head=all_gather, 4 head=all_reduce",
        // The features from which keys and values are computed, or keys and values if these are
        // smaller.
        "gpt_neox/ts_eager | sequence=3 | 2 token=all_gather",
        "torch_nn/ts_encoder_prenorm | sequence=7 | 2 token=all_gather",
        "llama/ts_mqa | sequence=2 | 6 token=all_gather",
        "vit/ts_meanpool | sequence=16 | 3 token=all_gather",
        // Only the class token goes to the classifier.
        "vit/ts_eager_static | sequence=3 | 2 token=all_gather, 1 token=all_reduce",
        "bert/dynamo_sdpa_static | sequence=4 | 2 token=all_gather, 1 token=all_reduce",
        "llama/ts_sdpa_static | pipeline=2 | 1 stage=send",
        "llama/ts_mqa | pipeline=3 | 2 stage=send",
        "llama/dynamo_mqa_kv | pipeline=2 | 1 stage=send",
        "bert/ts_sdpa_dynamic | pipeline=2,tensor=3"
            + " | 1 head=all_gather, 4 head=all_reduce, 1 stage=send",
        "llama/dynamo_sdpa_kv | tensor=2,pipeline=2,norm=root"
            + " | 5 head=broadcast, 1 head=gather, 4 head=reduce, 1 stage=send",
        "gpt2/ts_sdpa_dynamic | pipeline=2,sequence=3 | 1 stage=send, 2 token=all_gather",
        "phi/ts_eager | sequence=2,tensor=2"
            + " | 1 head=all_gather, 2 head=all_reduce, 4 token=all_gather",
        // One token isn't split, heads are.
        "gpt2/dynamo_sdpa_kv | sequence=2,tensor=2 | 1 head=all_gather, 4 head=all_reduce",
      })
  void exchangesAndResults(String fixture, String strategy, String expected) {
    TestCase test = TestCase.find(Path.of("../fixtures", fixture)).getFirst();
    Sharded sharded = new Sharded(Strategy.parse(strategy));
    CaseResult result =
        new CaseRunner(sharded, StandardPasses.usual(), FixtureTolerance.of(test)).run(test);
    assertThat(result.status()).as(result.detail()).isEqualTo(CaseResult.Status.PASS);
    assertThat(text(sharded)).isEqualTo(expected);
  }

  private static String text(Sharded sharded) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Sharded.Exchange exchange : sharded.exchanges()) {
      String kinds =
          exchange.kinds().entrySet().stream()
              .map(axis -> axis.getKey() + "=" + axis.getValue().text())
              .collect(Collectors.joining("+"));
      counts.merge(kinds, 1, Integer::sum);
    }
    return counts.entrySet().stream()
        .map(kind -> kind.getValue() + " " + kind.getKey())
        .collect(Collectors.joining(", "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gpt2/dynamo_sdpa_kv | sequence=2 | P4202 the strategy splits nothing: one token"
            + " (strategy sequence=2)",
        "functions/nested | sequence=2 | P4202 the strategy splits nothing: no attention"
            + " (strategy sequence=2)",
        "gpt2/ts_eager_static | pipeline=3 | P4202 the strategy splits nothing: 2 blocks"
            + " (strategy pipeline=3)",
      })
  void impossibleSplitsAreDiagnosed(String fixture, String strategy, String detail) {
    TestCase test = TestCase.find(Path.of("../fixtures", fixture)).getFirst();
    Sharded sharded = new Sharded(Strategy.parse(strategy));
    CaseResult result =
        new CaseRunner(sharded, StandardPasses.usual(), FixtureTolerance.of(test)).run(test);
    assertThat(result.detail()).isEqualTo(detail);
  }
}
