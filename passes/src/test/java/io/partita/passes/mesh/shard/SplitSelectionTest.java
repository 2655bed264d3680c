package io.partita.passes.mesh.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that the best of the parts' best elements are the best of the whole, bit for bit and for
 * equal scores.
 */
class SplitSelectionTest {
  private static final int VOCABULARY = 37;
  private static final int FEATURES = 3;
  private static final int TOKENS = 4;

  private static final Tensor IDS = Tensor.longs(Shape.of(2, TOKENS), 0, 5, 36, -1, 7, 7, 20, -37);

  /** Few different values, so that many scores are equal; some less than all zeros. */
  private static Tensor few(Random random, long... extents) {
    Shape shape = Shape.of(extents);
    float[] values = new float[(int) shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(3) - 1;
    }
    return Tensor.floats(shape, values);
  }

  /** Embedding, and scores of the last token; with one table, or two. */
  private static Module model(boolean tied, boolean biased, long seed) {
    Random random = new Random(seed);
    GraphBuilder graph = new GraphBuilder("model");
    Value ids = graph.input("ids", TensorType.of(ElementType.I64, 2, TOKENS));
    Value table = graph.constant(few(random, VOCABULARY, FEATURES));
    Value x = graph.add(new Structured.Embedding(), table, ids);
    Value weight = tied ? table : graph.constant(few(random, FEATURES, VOCABULARY));
    Value scores =
        biased
            ? graph.add(
                new Structured.Linear(tied, true),
                x,
                weight,
                graph.constant(few(random, VOCABULARY)))
            : graph.add(new Structured.Linear(tied, false), x, weight);
    Value less =
        graph.add(
            new Elementwise.Binary(BinaryFunction.SUB),
            scores,
            graph.constant(Tensor.scalar(ElementType.F32, 5)));
    graph.output("scores", less);
    return new Module(graph.finish());
  }

  @ParameterizedTest
  @CsvSource({
    "false, false, 1",
    "false, true, 3",
    "true, false, 1",
    "true, true, 10",
    "true, false, 37"
  })
  void theSameTokensInTheSameOrder(boolean tied, boolean biased, long count) {
    for (int devices : new int[] {1, 2, 3, 4, 5, 8, 37}) {
      Module whole = model(tied, biased, devices);
      Tensor scores = Evaluator.run(whole.graph(), List.of(IDS)).getFirst();
      Module selecting = new SelectPass(count).run(whole);
      List<Tensor> found = Evaluator.run(selecting.graph(), List.of(IDS));
      verify(scores, found, count);
      Graph split = SplitSelection.apply(selecting.graph(), devices);
      assertThat(Evaluator.run(split, List.of(IDS))).isEqualTo(found);
      Module sharded = new ShardPass(Strategy.tensor(devices)).run(selecting);
      assertThat(MeshEvaluator.run(sharded, List.of(IDS))).isEqualTo(found);
    }
  }

  /** Compares with a naive search. */
  private static void verify(Tensor scores, List<Tensor> found, long count) {
    assertThat(found.get(0).shape()).isEqualTo(Shape.of(2, count));
    assertThat(found.get(1).type()).isEqualTo(TensorType.of(ElementType.I64, 2, count));
    for (int batch = 0; batch < 2; batch++) {
      int line = (batch * TOKENS + TOKENS - 1) * VOCABULARY;
      boolean[] taken = new boolean[VOCABULARY];
      for (int i = 0; i < count; i++) {
        int best = -1;
        for (int id = 0; id < VOCABULARY; id++) {
          boolean isBetter =
              best < 0 || scores.getDouble(line + id) > scores.getDouble(line + best);
          best = !taken[id] && isBetter ? id : best;
        }
        taken[best] = true;
        int place = (int) (batch * count + i);
        assertThat(found.get(1).getLong(place)).isEqualTo(best);
        assertThat(found.get(0).getDouble(place)).isEqualTo(scores.getDouble(line + best));
      }
    }
  }

  @Test
  void onlyCandidatesAreSent() {
    Module sharded =
        new ShardPass(Strategy.tensor(4)).run(new SelectPass(2).run(model(true, false, 1)));
    List<Long> sent =
        sharded.graph().nodes().stream()
            .filter(node -> node.op() instanceof Communication.Sync)
            .map(node -> node.result().type().shape().elements())
            .toList();
    // The sum of the embedding of the last of each batch's tokens, 4 * 2 scores and their indices.
    assertThat(sent).contains(2L * 4 * 2).allMatch(elements -> elements <= 2 * TOKENS * FEATURES);
    assertThat(WeightHolding.duplicates(sharded))
        .noneMatch(weight -> weight.type().shape().elements() >= VOCABULARY);
    assertThat(WeightHolding.of(sharded))
        .filteredOn(weight -> weight.type().rank() == 2 && weight.type().element().isFloat())
        .singleElement()
        .satisfies(
            table -> assertThat(table.type()).isEqualTo(TensorType.of(ElementType.F32, 40, 3)));
  }

  @Test
  void otherModelsAreRefused() {
    GraphBuilder graph = new GraphBuilder("model");
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 2, 3));
    graph.output("y", x);
    Module other = new Module(graph.finish());
    assertThatThrownBy(() -> new SelectPass(1).run(other))
        .isInstanceOfSatisfying(
            PartitaException.class,
            told -> {
              assertThat(told.diagnostics().getFirst().code()).isEqualTo(ShardCode.SELECTION);
              assertThat(told.diagnostics().getFirst().found()).isEqualTo("y: f32[1,2,3]");
            });
    assertThatThrownBy(() -> new SelectPass(38).run(model(true, true, 1)))
        .isInstanceOf(PartitaException.class);
  }

  @Test
  void distributedModulesAreNotShardedAgain() {
    Module sharded = new ShardPass(Strategy.tensor(2)).run(model(false, false, 1));
    assertThatThrownBy(() -> new ShardPass(Strategy.tensor(2)).run(sharded))
        .isInstanceOfSatisfying(
            PartitaException.class,
            told ->
                assertThat(told.diagnostics().getFirst().code())
                    .isEqualTo(ShardCode.ALREADY_SHARDED));
  }

  @Test
  void unevenDevicesGetUnevenParts() {
    Module sharded =
        new ShardPass(Strategy.tensor(3).withCapacities(List.of(5L, 0L, 2L)))
            .run(model(false, false, 1));
    Node table =
        sharded.graph().nodes().stream()
            .filter(node -> node.op() instanceof Communication.Reshard)
            .filter(node -> node.operand(0).type().dim(node.operand(0).type().rank() - 1).is(37))
            .findFirst()
            .orElseThrow();
    // 37 in proportion 5 : 0 : 2 is 26.4 and 10.6.
    assertThat(((Communication.Reshard) table.op()).to().splits().get(1).cuts())
        .containsExactly(0L, 26L, 26L, 37L);
  }
}
