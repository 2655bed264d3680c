package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.driver.Compilation;
import io.partita.driver.Sharding;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.SyncCalibration;
import io.partita.passes.mesh.sync.SyncMethod;
import io.partita.passes.mesh.sync.SyncRewrites;
import io.partita.passes.mesh.sync.TokenGathers;
import io.partita.passes.mesh.sync.VectorSyncs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CodebookCalibrationTest {
  private static final int TOKENS = 4;
  private static final int FEATURES = 8;
  private static final int HEADS = 2;

  @TempDir Path folder;

  private static Tensor random(int seed, long... extents) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] data = new float[(int) Shape.of(extents).elements()];
    for (int i = 0; i < data.length; i++) {
      data[i] = (float) random.nextDouble(-1, 1);
    }
    return Tensor.floats(Shape.of(extents), data);
  }

  /**
   * A classifier of one attention.
   *
   * @param kvHeads with fewer of them, keys and values are gathered and not the features
   */
  private static Module classifier(int kvHeads, int seed) {
    GraphBuilder graph = new GraphBuilder("classifier");
    int head = FEATURES / HEADS;
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, TOKENS, FEATURES));
    Value negated = graph.add(new Elementwise.Unary(UnaryFunction.NEG), x);
    List<Value> heads = new ArrayList<>();
    for (int count : new int[] {HEADS, kvHeads, kvHeads}) {
      Value weight = graph.constant(random(seed + heads.size(), FEATURES, (long) count * head));
      Value projected = graph.add(new Structured.Linear(false, false), negated, weight);
      Value cut = graph.add(new Movement.Reshape(Shape.of(1, TOKENS, count, head)), projected);
      heads.add(graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), cut));
    }
    Value attended =
        graph.add(new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, false), heads);
    Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), attended);
    Value joined = graph.add(new Movement.Reshape(Shape.of(1, TOKENS, FEATURES)), back);
    Value mean = graph.add(new Reduction.Reduce(ReductionKind.MEAN, List.of(1), false), joined);
    Value weight = graph.constant(random(seed + 9, FEATURES, 2));
    graph.output("logits", graph.add(new Structured.Linear(false, false), mean, weight));
    return new Module(graph.finish());
  }

  private CalibrationFile calibrate(Module module, Tensor samples, SyncMethod.Width.Vector method) {
    return calibrate(module, samples, method, step -> {});
  }

  private CalibrationFile calibrate(
      Module module, Tensor samples, SyncMethod.Width.Vector method, ProgressListener progress) {
    Path model = folder.resolve("model.pir");
    PirFile.write(module, model);
    int count = (int) samples.shape().extent(0);
    Tensor labels = Tensor.longs(Shape.of(count), new long[count]);
    return new CodebookCalibration(note -> {}, progress)
        .run(
            new Calibration.Request(
                new Compilation.Request(model, Map.of(), Map.of(), null),
                new Sharding(Strategy.sequence(2), gathers(method.of()), SyncRewrites.NONE),
                new EvaluationData("data.npz", "calibration", samples, Optional.of(labels)),
                Scaling.NONE,
                OptionalInt.empty(),
                1,
                folder.resolve("codebooks.json")),
            List.of(method));
  }

  private static TokenGathers gathers(TokenGathers.Kind kind) {
    return kind == TokenGathers.Kind.KV
        ? new TokenGathers(BlockSelection.NONE, BlockSelection.ALL)
        : new TokenGathers(BlockSelection.ALL, BlockSelection.NONE);
  }

  private static SyncMethod.Width.Vector features(int size, int groups) {
    return new SyncMethod.Width.Vector(size, groups, TokenGathers.Kind.FEATURES);
  }

  /** Keys and values are told apart by the weights that they come from. */
  @ParameterizedTest
  @CsvSource("1,FEATURES")
  void codebooksBelongToOneModel(int kvHeads, TokenGathers.Kind kind) {
    Module module = classifier(kvHeads, 1);
    SyncMethod.Width.Vector method = new SyncMethod.Width.Vector(16, 2, kind);
    CalibrationFile file = calibrate(module, random(4, 40, TOKENS, FEATURES), method);
    SyncCalibration found = file.calibration();
    assertThat(found.codebooks()).hasSize(kind == TokenGathers.Kind.KV ? 2 : 1);
    VectorSyncs pass = new VectorSyncs(found, BlockSelection.ALL, method);
    ShardPass shard = new ShardPass(Strategy.sequence(4), gathers(kind));
    Module sharded = shard.run(module);
    assertThat(pass.run(sharded).graph()).isNotEqualTo(sharded.graph());
    Module other = shard.run(classifier(kvHeads, 7));
    assertThatThrownBy(() -> pass.run(other))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4224")
        .hasMessageContaining("codebooks of other tokens");
    VectorSyncs smaller =
        new VectorSyncs(found, BlockSelection.ALL, new SyncMethod.Width.Vector(8, 2, kind));
    assertThatThrownBy(() -> smaller.run(sharded))
        .hasMessageContaining("P4224")
        .hasMessageContaining("vq(k=16,groups=2)");
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"1,KV", "2,KV", "2,FEATURES"})
  void otherCodebooksBelongToOneModel(int kvHeads, TokenGathers.Kind kind) {
    codebooksBelongToOneModel(kvHeads, kind);
  }

  /**
   * Tests that calibrations which were interrupted while tokens were sampled, or after a codebook,
   * give the same file, and that others aren't resumed.
   */
  @Tag("thorough")
  @Test
  void interruptedCalibrationsAreResumed() throws IOException {
    Module module = classifier(2, 1);
    SyncMethod.Width.Vector method = new SyncMethod.Width.Vector(16, 2, TokenGathers.Kind.KV);
    float[] data = random(4, 40, TOKENS, FEATURES).floats().clone();
    Tensor samples = Tensor.floats(Shape.of(40, TOKENS, FEATURES), data);
    calibrate(module, samples, method);
    Path file = folder.resolve("codebooks.json");
    Path tokens = folder.resolve("codebooks.json.tokens");
    String complete = Files.readString(file);
    assertThat(tokens).doesNotExist();
    calibrate(module, samples, method);
    assertThat(file).hasContent(complete);

    Map<String, Object> half = new LinkedHashMap<>(JSON.std.mapFrom(complete));
    half.put("codebooks", ((List<?>) half.get("codebooks")).subList(0, 1));
    Files.writeString(file, JSON.std.asString(half));
    assertThatThrownBy(() -> CalibrationFile.read(file)).hasMessageContaining("2 codebooks");
    calibrate(module, samples, method);
    assertThat(file).hasContent(complete);

    Files.delete(file);
    StepException stop = new StepException();
    assertThatThrownBy(
            () ->
                calibrate(
                    module,
                    samples,
                    method,
                    step -> {
                      if (step.startsWith("codebook 2")) {
                        throw stop;
                      }
                    }))
        .isSameAs(stop);
    assertThat(tokens).exists();
    assertThatThrownBy(() -> calibrate(classifier(2, 3), samples, method))
        .hasMessageContaining("P6204")
        .hasMessageContaining("another model");
    byte[] kept = Files.readAllBytes(tokens);
    Files.delete(file);
    assertThatThrownBy(() -> calibrate(classifier(2, 3), samples, method))
        .hasMessageContaining("P6204")
        .hasMessageContaining("codebooks.json.tokens");
    assertThat(tokens).hasBinaryContent(kept);
    calibrate(module, samples, method);
    assertThat(file).hasContent(complete);
    assertThat(tokens).doesNotExist();
  }

  private static final class StepException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void asManyTokensAsCentroidsAreNeeded() {
    assertThatThrownBy(
            () -> calibrate(classifier(2, 1), random(4, 3, TOKENS, FEATURES), features(16, 1)))
        .hasMessageContaining("P6207")
        .hasMessageContaining("at least 16 tokens")
        .hasMessageContaining("12 tokens")
        .hasMessageContaining("or with k=8");
    assertThat(folder.resolve("codebooks.json.tokens")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY})
  void tokensMustBeFinite(float bad) {
    float[] data = random(4, 40, TOKENS, FEATURES).floats().clone();
    data[777] = bad;
    Tensor samples = Tensor.floats(Shape.of(40, TOKENS, FEATURES), data);
    assertThatThrownBy(() -> calibrate(classifier(2, 1), samples, features(16, 1)))
        .hasMessageContaining("P6207")
        .hasMessageContaining("tokens of block 0")
        .hasMessageContaining("finite numbers");
    assertThat(folder.resolve("codebooks.json")).doesNotExist();
  }
}
