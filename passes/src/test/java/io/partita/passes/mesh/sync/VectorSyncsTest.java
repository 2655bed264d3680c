package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.message.Slice;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VectorSyncsTest {
  private static final int FEATURES = 8;
  private static final int HEADS = 2;
  private static final Residual NONE = new Residual(0, 0, 0, new float[0], new float[0]);

  private static float[] random(int count, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] data = new float[count];
    for (int i = 0; i < count; i++) {
      data[i] = (float) random.nextDouble(-1, 1);
    }
    return data;
  }

  private static Codebook book(String weights, int features, int groups, int size) {
    float[] centroids = random(features * size, size);
    return new Codebook("tokens", weights, features, groups, size, centroids, NONE);
  }

  /** Self-attention of -x. */
  static Module attention(int batch, int tokens, boolean causal) {
    GraphBuilder graph = new GraphBuilder("attention");
    TensorType type = TensorType.of(ElementType.F32, batch, tokens, FEATURES);
    Value x = graph.input("x", type);
    Value negated = graph.add(new Elementwise.Unary(UnaryFunction.NEG), x);
    List<Value> heads = new ArrayList<>();
    for (Value input : List.of(negated, negated, negated)) {
      Tensor weight =
          Tensor.floats(
              Shape.of(FEATURES, FEATURES), random(FEATURES * FEATURES, 7 + heads.size()));
      Value projected =
          graph.add(new Structured.Linear(false, false), input, graph.constant(weight));
      Value cut =
          graph.add(
              new Movement.Reshape(Shape.of(batch, tokens, HEADS, FEATURES / HEADS)), projected);
      heads.add(graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), cut));
    }
    Op attention = new Structured.Attention(0.5, 0, causal, Dim.ZERO, 0, false, false);
    Value attended = graph.add(attention, heads.get(0), heads.get(1), heads.get(2));
    Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), attended);
    graph.output("y", graph.add(new Movement.Reshape(type.shape()), back));
    return new Module(graph.finish());
  }

  private static SyncCalibration calibration(Module sharded, int groups, int size) {
    String weights = TokenStatistics.of(sharded).syncs().getFirst().weights();
    return new SyncCalibration(
        "cal.json", "mesh(token=9)", List.of(), List.of(book(weights, FEATURES, groups, size)));
  }

  private static SyncMethod.Width.Vector method(int size, int groups) {
    return new SyncMethod.Width.Vector(size, groups, TokenGathers.Kind.FEATURES);
  }

  static Module sharded(Module module, int devices) {
    return new ShardPass(Strategy.of(Map.of("sequence", "" + devices))).run(module);
  }

  static Module coded(Module sharded, int groups, int size) {
    VectorSyncs pass =
        new VectorSyncs(
            calibration(sharded, groups, size), BlockSelection.ALL, method(size, groups));
    Module coded = pass.run(sharded);
    Verifier.verify(coded);
    return coded;
  }

  private static float[] negated(float[] data) {
    float[] result = new float[data.length];
    for (int i = 0; i < data.length; i++) {
      result[i] = -data[i];
    }
    return result;
  }

  private static void replaceByCentroid(float[] tokens, int token, Codebook book) {
    for (int group = 0; group < book.groups(); group++) {
      int best = -1;
      double least = Double.MAX_VALUE;
      for (int k = 0; k < book.size(); k++) {
        double distance = 0;
        for (int j = 0; j < book.width(); j++) {
          int at = (group * book.size() + k) * book.width() + j;
          double difference =
              tokens[token * FEATURES + group * book.width() + j] - book.centroids()[at];
          distance += difference * difference;
        }
        if (distance < least) {
          least = distance;
          best = k;
        }
      }
      System.arraycopy(
          book.centroids(),
          (group * book.size() + best) * book.width(),
          tokens,
          token * FEATURES + group * book.width(),
          book.width());
    }
  }

  /**
   * Tests equation 1: each device attends to its own tokens exactly, and to the centroids of
   * others.
   */
  @ParameterizedTest
  @CsvSource({
    "1,6,2,1,16,false",
    "1,6,3,4,5,true",
    "1,7,3,2,300,false",
    "2,4,2,8,3,false",
    "2,5,4,2,1024,true",
    "1,3,4,2,9,false",
    "1,13,4,1,1024,true",
    "2,7,4,4,40,true"
  })
  void remoteTokensAreCentroids(
      int batch, int tokens, int devices, int groups, int size, boolean causal) {
    Module module = attention(batch, tokens, causal);
    Module sharded = sharded(module, devices);
    Module coded = coded(sharded, groups, size);
    Shape shape = Shape.of(batch, tokens, FEATURES);
    float[] given = random(batch * tokens * FEATURES, 1);
    Tensor x = Tensor.floats(shape, given);
    Tensor found = MeshEvaluator.run(coded, List.of(x)).getFirst();
    Codebook book = calibration(sharded, groups, size).codebooks().getFirst();
    Split parts = Split.even(sharded.placement().orElseThrow().mesh(), tokens, "token");
    for (int device = 0; device < devices; device++) {
      float[] seen = negated(given);
      for (int token = 0; token < batch * tokens; token++) {
        int position = token % tokens;
        if (position < parts.from(device) || position >= parts.to(device)) {
          replaceByCentroid(seen, token, book);
        }
      }
      Tensor expected =
          Evaluator.run(module.graph(), List.of(Tensor.floats(shape, negated(seen)))).getFirst();
      for (int i = 0; i < found.size(); i++) {
        int position = i / FEATURES % tokens;
        if (position >= parts.from(device) && position < parts.to(device)) {
          assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-5));
        }
      }
    }
    assertThat(new ProgramEvaluator(Localization.of(coded, 1), 1).run(Map.of("x", x)).get("y"))
        .isEqualTo(found);
  }

  /**
   * Tests that each index reaches its token and head: with centroids at all tokens, results are
   * exact.
   */
  @ParameterizedTest
  @CsvSource({
    "FEATURES,1,6,2,1",
    "FEATURES,2,5,4,4",
    "KV,1,6,3,1",
    "KV,1,7,3,2",
    "KV,2,6,2,4",
    "KV,2,5,4,2",
    "KV,1,3,4,1"
  })
  void centroidsAtAllTokensGiveExactResults(
      TokenGathers.Kind kind, int batch, int tokens, int devices, int groups) {
    Module module = attention(batch, tokens, true);
    TokenGathers gathers =
        kind == TokenGathers.Kind.KV
            ? new TokenGathers(BlockSelection.NONE, BlockSelection.ALL)
            : new TokenGathers(BlockSelection.ALL, BlockSelection.NONE);
    Module sharded = new ShardPass(Strategy.sequence(devices), gathers).run(module);
    TokenStatistics.Measuring measuring = TokenStatistics.of(sharded);
    assertThat(measuring.syncs()).hasSize(kind == TokenGathers.Kind.KV ? 2 : 1);
    List<Tensor> x =
        List.of(
            Tensor.floats(Shape.of(batch, tokens, FEATURES), random(batch * tokens * FEATURES, 1)));
    List<Tensor> gathered = MeshEvaluator.run(measuring.module(), x);
    List<Codebook> books = new ArrayList<>();
    for (int i = 0; i < measuring.syncs().size(); i++) {
      TokenSync sync = measuring.syncs().get(i);
      float[] vectors = gathered.get(1 + i).floats();
      int size = vectors.length / sync.features();
      books.add(
          new Codebook(
              "tokens",
              sync.weights(),
              sync.features(),
              groups,
              size,
              byGroup(vectors, sync.features(), groups),
              NONE));
    }
    int size = books.getFirst().size();
    Module coded =
        new VectorSyncs(
                new SyncCalibration("cal.json", "mesh(token=9)", List.of(), books),
                BlockSelection.ALL,
                new SyncMethod.Width.Vector(size, groups, kind))
            .run(sharded);
    Verifier.verify(coded);
    Tensor found = MeshEvaluator.run(coded, x).getFirst();
    Tensor expected = Evaluator.run(module.graph(), x).getFirst();
    for (int i = 0; i < found.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-5));
    }
  }

  /** The parts of vectors in each group of features, one group after the other. */
  private static float[] byGroup(float[] vectors, int features, int groups) {
    int width = features / groups;
    float[] result = new float[vectors.length];
    int next = 0;
    for (int group = 0; group < groups; group++) {
      for (int i = 0; i < vectors.length / features; i++) {
        System.arraycopy(vectors, i * features + group * width, result, next, width);
        next += width;
      }
    }
    return result;
  }

  /**
   * Tests that each device sends the bits of its own indices, rounded up to bytes, also where
   * devices have different numbers of tokens or none.
   */
  @ParameterizedTest
  @CsvSource({
    "8,2,1,1024",
    "7,2,1,1024",
    "13,4,1,1024",
    "13,3,4,300",
    "9,4,2,16",
    "3,4,1,1024",
    "23,5,1,4",
    "3,2,8,4096"
  })
  void indicesOfADeviceAreOneStreamOfBits(int tokens, int devices, int groups, int size) {
    Module sharded = sharded(attention(1, tokens, false), devices);
    Program program = Localization.of(coded(sharded, groups, size), 1);
    Split parts = Split.even(sharded.placement().orElseThrow().mesh(), tokens, "token");
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(size - 1);
    for (int device = 0; device < devices; device++) {
      List<Communication.Exchange> exchanges =
          program.devices().get(device).graph().nodes().stream()
              .map(Node::op)
              .filter(Communication.Exchange.class::isInstance)
              .map(Communication.Exchange.class::cast)
              .toList();
      assertThat(exchanges).hasSize(1);
      long bytes = Slice.elements(exchanges.getFirst().before());
      assertThat(bytes).isEqualTo(Math.ceilDiv(parts.size(device) * groups * bits, 8L));
    }
  }

  @Test
  void onlyWhatIsGatheredCanBeQuantised() {
    Module sharded = sharded(attention(1, 4, false), 2);
    VectorSyncs pass =
        new VectorSyncs(
            calibration(sharded, 1, 4),
            BlockSelection.ALL,
            new SyncMethod.Width.Vector(4, 1, TokenGathers.Kind.KV));
    assertThatThrownBy(() -> pass.run(sharded))
        .hasMessageContaining("P4229")
        .hasMessageContaining("in block 0")
        .hasMessageContaining("expected:  keys and values")
        .hasMessageContaining("vq(…,of=features)");
  }

  @ParameterizedTest
  @CsvSource({"2,9", "3,4", "16,5", "256,3", "257,3", "1024,7", "65536,3"})
  void indicesArePackedAndUnpacked(int size, int codes) {
    GraphBuilder builder = new GraphBuilder("packing");
    Value input = builder.input("codes", TensorType.of(ElementType.I32, 2, codes));
    builder.output("same", input);
    GraphEditor graph = new GraphEditor(builder.finish());
    VectorCode code = VectorCode.of(book("", 1, 1, size), graph);
    graph.addOutput("unpacked", code.unpack(code.pack(input), codes));
    long[] data = new long[2 * codes];
    for (int i = 0; i < data.length; i++) {
      data[i] = i == 0 ? size - 1 : i * 7919L % size;
    }
    Tensor given = Tensor.ofLongs(input.type(), data);
    assertThat(Evaluator.run(graph.freeze(), List.of(given)).get(1)).isEqualTo(given);
  }

  /** Tests ASTRA's tables 1 and 3: ViT-Base and GPT2-S, GPT2-M. */
  @ParameterizedTest
  @CsvSource({
    "12,768,1,120,2457.6",
    "12,768,16,1920,153.6",
    "12,768,32,3840,76.8",
    "24,1024,1,240,3276.8",
    "24,1024,16,3840,204.8",
    "24,1024,32,7680,102.4"
  })
  void payloadMatchesThePaper(
      int blocks, int features, int groups, int bitsPerToken, double ratio) {
    int tokens = 256;
    GraphBuilder builder = new GraphBuilder("encoder");
    Value input = builder.input("codes", TensorType.of(ElementType.I32, 1, (long) tokens * groups));
    builder.output("same", input);
    GraphEditor graph = new GraphEditor(builder.finish());
    int size = 1024;
    Codebook book = new Codebook("", "", features, groups, size, new float[0], NONE);
    long bits = 8 * new VectorCode(book, graph, input).pack(input).type().bytes();
    assertThat((double) bits / tokens * blocks).isEqualTo(bitsPerToken);
    int exact = blocks * features * Float.SIZE;
    assertThat((double) exact / bitsPerToken).isCloseTo(ratio, within(0.001 * ratio));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void otherBlocksStayExact(int blocks) {
    Module sharded = sharded(attention(1, 4, false), 2);
    BlockSelection other = BlockSelection.parse(blocks == 1 ? "0" : "1").orElseThrow();
    VectorSyncs pass = new VectorSyncs(calibration(sharded, 1, 4), other, method(4, 1));
    if (blocks == 1) {
      assertThat(pass.run(sharded).graph()).isNotEqualTo(sharded.graph());
    } else {
      assertThatThrownBy(() -> pass.run(sharded)).hasMessageContaining("P4221");
    }
  }

  @Test
  void modelsWithoutGatheredTokensAreRefused() {
    Module tensor = new ShardPass(Strategy.tensor(2)).run(attention(1, 4, false));
    VectorSyncs pass =
        new VectorSyncs(
            new SyncCalibration("cal.json", "", List.of(), List.of()),
            BlockSelection.ALL,
            method(4, 1));
    assertThatThrownBy(() -> pass.run(tensor)).hasMessageContaining("P4229");
  }

  @Test
  void codebooksOfOtherSizesAreRefused() {
    Module sharded = sharded(attention(1, 4, false), 2);
    VectorSyncs pass =
        new VectorSyncs(calibration(sharded, 1, 4), BlockSelection.ALL, method(8, 2));
    assertThatThrownBy(() -> pass.run(sharded))
        .hasMessageContaining("P4224")
        .hasMessageContaining("vq(k=4,groups=1)")
        .hasMessageContaining("'vq(k=8,groups=2)'");
  }
}
