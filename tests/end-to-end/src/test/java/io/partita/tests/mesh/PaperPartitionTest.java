package io.partita.tests.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.ModelFile;
import io.partita.driver.StandardPasses;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.SyncKind;
import io.partita.passes.Pipeline;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.WeightHolding;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks the counts in the MCU paper's section IV, on its models with fewer layers. */
class PaperPartitionTest {
  private static final int LAYERS = 2;
  private static final int CAPACITY = 128;

  private static Module eightHeads;
  private static Module manyHeads;

  @BeforeAll
  static void decoders(@TempDir Path folder) throws IOException {
    eightHeads = decoder("tinyllama-42m", folder);
    manyHeads = decoder("tinyllama-42m-64h", folder);
  }

  private static Module decoder(String name, Path folder) throws IOException {
    Path file = folder.resolve(name + ".onnx");
    ZooOptions options =
        ZooOptions.defaults().withLayers(LAYERS).withMode(Mode.DECODE).withDynamic(true);
    Zoo.write(name, options, file);
    Module module = ModelFile.read(file, Map.of(), Map.of()).module();
    String passes = "simplify,raise,simplify,kv-state(capacity=" + CAPACITY + ")";
    return Pipeline.parse(passes, StandardPasses.REGISTRY).run(module, (pass, before, after) -> {});
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void weightsAreNeverDuplicated(int chips) {
    verify(eightHeads, chips);
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 32, 64})
  void onAsManyChipsAsHeads(int chips) {
    verify(manyHeads, chips);
  }

  /** Pipeline parallelism for comparison: a stage has only its blocks' weights and caches. */
  @Test
  void stagesOfAPipelineShareNothing() {
    Sharded sharded = new Sharded(Strategy.pipeline(LAYERS));
    sharded.prepare(eightHeads);
    assertThat(WeightHolding.duplicates(sharded.module()))
        .filteredOn(weight -> weight.type().rank() > 0)
        .extracting(WeightHolding::name)
        // The tied table is used at the beginning and end of the model.
        .containsExactlyInAnyOrder(
            "model.embed_tokens.weight",
            "model.rotary_emb.cos_cached",
            "model.rotary_emb.sin_cached");
    assertThat(
            sharded.module().graph().inputs().stream()
                .filter(input -> input.name().startsWith("past")))
        .hasSize(2 * LAYERS)
        .allSatisfy(
            input -> {
              Layout layout = sharded.module().placement().orElseThrow().layout(input);
              assertThat(layout.at()).as(input.name()).isNotEmpty();
            });
  }

  private static void verify(Module decoder, int chips) {
    Sharded sharded = new Sharded(Strategy.tensor(chips));
    sharded.prepare(decoder);
    List<WeightHolding> weights = WeightHolding.of(sharded.module());
    List<WeightHolding> duplicates = WeightHolding.duplicates(sharded.module());
    // Norms, and the sines of all positions, which aren't trained and which each head needs.
    assertThat(duplicates)
        .allMatch(weight -> weight.name().contains("rotary") || weight.type().bytes() <= 512 * 4);
    long shared = bytes(duplicates);
    long total = bytes(weights);
    assertThat(total - shared).isGreaterThan(90_000_000);
    for (int chip = 0; chip < chips; chip++) {
      int at = chip;
      long held = weights.stream().mapToLong(weight -> weight.bytes().get(at)).sum();
      assertThat(held - shared).as("chip " + chip).isEqualTo((total - shared) / chips);
    }
    verifySyncs(sharded);
    verifyCaches(sharded, chips);
  }

  private static long bytes(List<WeightHolding> weights) {
    return weights.stream().mapToLong(weight -> weight.type().bytes()).sum();
  }

  /** Two syncs per block, and one for the embedding, whose table the scores share. */
  private static void verifySyncs(Sharded sharded) {
    assertThat(sharded.exchanges()).hasSize(2 * LAYERS + 1);
    assertThat(sharded.exchanges())
        .allMatch(exchange -> exchange.is(SyncKind.ALL_REDUCE))
        .allMatch(exchange -> exchange.node().result().type().shape().elements() == 512);
  }

  /** Each chip keeps the keys and values of its heads. */
  private static void verifyCaches(Sharded sharded, int chips) {
    Module module = sharded.module();
    assertThat(module.states()).hasSize(2 * LAYERS);
    assertThat(
            module.graph().inputs().stream()
                .filter(
                    input ->
                        module.states().stream()
                            .anyMatch(state -> state.input().equals(input.name()))))
        .hasSize(2 * LAYERS)
        .allSatisfy(
            input ->
                assertThat(module.placement().orElseThrow().layout(input).bytes(input.type()))
                    .containsOnly(input.type().bytes() / chips)
                    .hasSize(chips));
  }

  @Test
  void nextTokensAreFoundWithoutSendingScores() {
    Module selecting =
        Pipeline.parse("select(greedy)", StandardPasses.REGISTRY)
            .run(eightHeads, (pass, before, after) -> {});
    Sharded sharded = new Sharded(Strategy.tensor(8));
    sharded.prepare(selecting);
    // In addition to the sums: a score and its index from each chip.
    assertThat(sharded.exchanges()).hasSize(2 * LAYERS + 1 + 2);
    assertThat(sharded.exchanges())
        .filteredOn(exchange -> exchange.is(SyncKind.ALL_GATHER))
        .allMatch(exchange -> exchange.node().result().type().shape().elements() == 8)
        .hasSize(2);
  }
}
