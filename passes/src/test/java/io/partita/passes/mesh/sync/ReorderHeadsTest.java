package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uses decoder blocks with 3 kv heads, each shared by 2 heads. */
class ReorderHeadsTest {
  private final Module whole = new Module(new DecoderBlocks().build(2));
  private final List<Tensor> inputs = List.of(values(whole.graph().inputs().getFirst().type(), 5));

  private static Tensor values(TensorType type, int seed) {
    Random random = new Random(seed);
    double[] data = new double[Math.toIntExact(type.shape().elements())];
    Arrays.setAll(data, i -> random.nextGaussian());
    return Tensor.ofDoubles(type, data);
  }

  private Module sharded(String strategy) {
    return new ShardPass(Strategy.parse(strategy)).run(whole);
  }

  private static void same(List<Tensor> found, List<Tensor> expected) {
    for (int i = 0; i < expected.getFirst().size(); i++) {
      assertThat(found.getFirst().getDouble(i))
          .isCloseTo(expected.getFirst().getDouble(i), within(1e-4));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tensor=3", "tensor=6"})
  void theModelComputesTheSame(String strategy) {
    Module sharded = sharded(strategy);
    Module reordered =
        new ReorderHeads(Map.of(0, List.of(2, 0, 1), 1, List.of(1, 0, 2))).run(sharded);
    Verifier.verify(reordered);
    assertThat(BlockRanking.weights(reordered)).isNotEqualTo(BlockRanking.weights(sharded));
    same(MeshEvaluator.run(reordered, inputs), MeshEvaluator.run(sharded, inputs));
  }

  /** Tests that the heads of a device affect results of dropped syncs. */
  @Test
  void droppedSyncsSeeOtherHeads() {
    Module sharded = sharded("tensor=3");
    DropSyncs drop = new DropSyncs(BlockSelection.ALL);
    Module reordered = new ReorderHeads(Map.of(0, List.of(1, 2, 0))).run(sharded);
    List<Tensor> exact = Evaluator.run(whole.graph(), inputs);
    List<Tensor> dropped = MeshEvaluator.run(drop.run(sharded), inputs);
    List<Tensor> scattered = MeshEvaluator.run(drop.run(reordered), inputs);
    assertThat(largestDifference(dropped, exact)).isGreaterThan(1e-3);
    assertThat(largestDifference(scattered, dropped)).isGreaterThan(1e-3);
  }

  private static double largestDifference(List<Tensor> one, List<Tensor> other) {
    double largest = 0;
    for (int i = 0; i < one.getFirst().size(); i++) {
      double difference = one.getFirst().getDouble(i) - other.getFirst().getDouble(i);
      largest = Math.max(largest, Math.abs(difference));
    }
    return largest;
  }

  @Test
  void invalidOrdersOfHeadsAreRefused() {
    Module sharded = sharded("tensor=3");
    for (List<Integer> order : List.of(List.of(0, 1), List.of(0, 1, 1), List.of(1, 2, 3))) {
      assertThatThrownBy(() -> new ReorderHeads(Map.of(0, order)).run(sharded))
          .hasMessageContaining("P4228")
          .hasMessageContaining("an order of its 3 kv heads");
    }
  }

  /** Tests inner products of attention scores, measured with unit vectors. */
  @Test
  void distancesAreThoseOfAttentionScores() {
    GraphBuilder builder = new GraphBuilder("scores");
    Value q = builder.input("q", TensorType.of(ElementType.F32, 2, 6, 5, 4));
    Value k = builder.input("k", TensorType.of(ElementType.F32, 2, 3, 5, 4));
    Value v = builder.input("v", TensorType.of(ElementType.F32, 2, 3, 5, 4));
    Structured.Attention op = new Structured.Attention(0.5, 0, true, Dim.of(0), 0, false, false);
    builder.output("y", builder.add(op, List.of(q, k, v)));
    Module module = new Module(builder.finish());
    HeadStatistics.Measuring measuring = HeadStatistics.of(module, Set.of(0));
    List<Tensor> given = List.of(values(q.type(), 1), values(k.type(), 2), values(v.type(), 3));
    List<Tensor> results = Evaluator.run(measuring.module().graph(), given);
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      named.put(measuring.module().graph().outputs().get(i).name(), results.get(i));
    }
    double[][] distances = HeadStatistics.distances(measuring.products(named).get(0));
    double[][] scores = scores(given.get(0), given.get(1));
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        double square = 0;
        for (int at = 0; at < scores[i].length; at++) {
          square += Math.pow(scores[i][at] - scores[j][at], 2);
        }
        assertThat(distances[i][j]).isCloseTo(Math.sqrt(square), within(1e-3));
      }
    }
    assertThat(distances[0][1]).isGreaterThan(0.01);
  }

  /** Computes scores by kv head directly, as softmax of causal products. */
  private static double[][] scores(Tensor q, Tensor k) {
    double[][] scores = new double[3][2 * 2 * 5 * 5];
    for (int batch = 0; batch < 2; batch++) {
      for (int head = 0; head < 6; head++) {
        for (int query = 0; query < 5; query++) {
          double[] line = new double[5];
          double sum = 0;
          for (int key = 0; key <= query; key++) {
            double product = 0;
            for (int d = 0; d < 4; d++) {
              product +=
                  q.getDouble(((batch * 6 + head) * 5 + query) * 4 + d)
                      * k.getDouble(((batch * 3 + head / 2) * 5 + key) * 4 + d);
            }
            line[key] = Math.exp(0.5 * product);
            sum += line[key];
          }
          for (int key = 0; key < 5; key++) {
            scores[head / 2][((batch * 2 + head % 2) * 5 + query) * 5 + key] = line[key] / sum;
          }
        }
      }
    }
    return scores;
  }
}
