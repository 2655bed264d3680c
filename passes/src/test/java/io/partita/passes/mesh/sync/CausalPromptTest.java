package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.mesh.shard.LastDevice;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A causal model whose prompt is read by all devices and continued by the last one, against one
 * layer at a time of each device's own view of the tokens, without caches and devices.
 */
class CausalPromptTest {
  private static final int FEATURES = 8;
  private static final int HEADS = 2;
  private static final int LAYERS = 2;
  private static final int CAPACITY = 12;
  private static final TensorType CACHE =
      TensorType.of(ElementType.F32, 1, HEADS, CAPACITY, FEATURES / HEADS);

  private static float[] random(int count, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] data = new float[count];
    for (int i = 0; i < count; i++) {
      data[i] = (float) random.nextDouble(-1, 1);
    }
    return data;
  }

  /** The layers from one to another, on some tokens. */
  private static final class Layers {
    private final GraphBuilder graph = new GraphBuilder("causal");
    private final List<Module.State> states = new ArrayList<>();
    private final int tokens;
    private Value x;

    Layers(int tokens) {
      this.tokens = tokens;
      this.x = graph.input("x", TensorType.of(ElementType.F32, 1, tokens, FEATURES));
    }

    /** Without a cache. */
    static Module alone(int layer, int tokens) {
      Layers layers = new Layers(tokens);
      layers.add(layer, null, false);
      return layers.finish();
    }

    /** Writes caches from position 0 on. */
    static Module prompt(int tokens) {
      Layers layers = new Layers(tokens);
      Value position = layers.graph.constant(Tensor.longs(Shape.of(1), 0));
      for (int layer = 0; layer < LAYERS; layer++) {
        layers.add(layer, position, false);
      }
      return layers.finish();
    }

    /** One token, which attends to the caches. */
    static Module step() {
      Layers layers = new Layers(1);
      Value position = layers.graph.input("position", TensorType.of(ElementType.I64, 1));
      for (int layer = 0; layer < LAYERS; layer++) {
        layers.add(layer, position, true);
      }
      return layers.finish();
    }

    private Module finish() {
      graph.output("y", x);
      return new Module(graph.finish(), states);
    }

    private Value heads(Value input, int seed) {
      Tensor weight =
          Tensor.floats(Shape.of(FEATURES, FEATURES), random(FEATURES * FEATURES, seed));
      Value projected =
          graph.add(new Structured.Linear(false, false), input, graph.constant(weight));
      Shape cut = Shape.of(1, tokens, HEADS, FEATURES / HEADS);
      return graph.add(
          new Movement.Transpose(List.of(0, 2, 1, 3)),
          graph.add(new Movement.Reshape(cut), projected));
    }

    private Value cached(String name, Value fresh, Value position) {
      Value cache = graph.input("past_" + name, CACHE);
      Value updated = graph.add(new Structured.CacheUpdate(2, false), cache, fresh, position);
      graph.output("present_" + name, updated);
      states.add(new Module.State("past_" + name, "present_" + name));
      return updated;
    }

    private void add(int layer, Value position, boolean readsCache) {
      Value input = graph.add(new Elementwise.Unary(UnaryFunction.NEG), x);
      Value q = heads(input, 10 * layer);
      Value k = heads(input, 10 * layer + 1);
      Value v = heads(input, 10 * layer + 2);
      Value keys = position == null ? k : cached("key_" + layer, k, position);
      Value values = position == null ? v : cached("value_" + layer, v, position);
      Value attended;
      if (readsCache) {
        Value one = graph.constant(Tensor.scalar(ElementType.I64, 1));
        Value length = graph.add(new Elementwise.Binary(BinaryFunction.ADD), position, one);
        attended =
            graph.add(
                new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, true),
                q,
                keys,
                values,
                length);
      } else {
        attended =
            graph.add(new Structured.Attention(0.5, 0, true, Dim.ZERO, 0, false, false), q, k, v);
      }
      Value back = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), attended);
      x =
          graph.add(
              new Elementwise.Binary(BinaryFunction.ADD),
              x,
              graph.add(new Movement.Reshape(Shape.of(1, tokens, FEATURES)), back));
    }
  }

  private static Tensor tokens(List<float[]> rows) {
    float[] data = new float[rows.size() * FEATURES];
    for (int i = 0; i < rows.size(); i++) {
      System.arraycopy(rows.get(i), 0, data, i * FEATURES, FEATURES);
    }
    return Tensor.floats(Shape.of(1, rows.size(), FEATURES), data);
  }

  private static List<float[]> rows(Tensor tokens) {
    float[] data = tokens.floats();
    List<float[]> rows = new ArrayList<>();
    for (int i = 0; i < data.length; i += FEATURES) {
      rows.add(Arrays.copyOfRange(data, i, i + FEATURES));
    }
    return rows;
  }

  private static List<float[]> layer(int layer, List<float[]> tokens) {
    Module alone = Layers.alone(layer, tokens.size());
    return rows(Evaluator.run(alone.graph(), List.of(tokens(tokens))).getFirst());
  }

  /** The nearest centroid of -x, negated. */
  private static float[] approximate(float[] x, Codebook book) {
    float[] result = new float[FEATURES];
    int width = book.width();
    for (int group = 0; group < book.groups(); group++) {
      double least = Double.MAX_VALUE;
      for (int k = 0; k < book.size(); k++) {
        double distance = 0;
        int at = (group * book.size() + k) * width;
        for (int j = 0; j < width; j++) {
          double difference = -x[group * width + j] - book.centroids()[at + j];
          distance += difference * difference;
        }
        if (distance < least) {
          least = distance;
          for (int j = 0; j < width; j++) {
            result[group * width + j] = -book.centroids()[at + j];
          }
        }
      }
    }
    return result;
  }

  private static List<float[]> view(List<float[]> tokens, int from, int to, Codebook book) {
    List<float[]> seen = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i++) {
      boolean isOwn = i >= from && i < to;
      seen.add(isOwn ? tokens.get(i) : approximate(tokens.get(i), book));
    }
    return seen;
  }

  private static Map<String, Tensor> states(Map<String, Tensor> outputs) {
    Map<String, Tensor> states = new HashMap<>();
    outputs.forEach(
        (name, value) -> {
          if (name.startsWith("present")) {
            states.put(name.replace("present", "past"), value);
          }
        });
    return states;
  }

  @ParameterizedTest
  @CsvSource({"6,2,1,16", "7,3,4,300", "4,4,2,5"})
  void lastDeviceDecodesWithItsViewOfThePrompt(int count, int devices, int groups, int size) {
    Strategy strategy = Strategy.sequence(devices);
    Module sharded = new ShardPass(strategy).run(Layers.prompt(count));
    List<Codebook> books = new ArrayList<>();
    for (TokenSync sync : TokenStatistics.of(sharded).syncs()) {
      float[] centroids = random(FEATURES * size, size + books.size());
      Residual none = new Residual(0, 0, 0, new float[0], new float[0]);
      books.add(new Codebook("tokens", sync.weights(), FEATURES, groups, size, centroids, none));
    }
    assertThat(books).hasSize(LAYERS);
    Module coded =
        new VectorSyncs(
                new SyncCalibration("cal.json", "mesh", List.of(), books),
                BlockSelection.ALL,
                new SyncMethod.Width.Vector(size, groups, TokenGathers.Kind.FEATURES))
            .run(sharded);
    Verifier.verify(coded);
    Module step = LastDevice.place(Layers.step(), strategy);
    Verifier.verify(step);
    List<Program> programs = Localization.of(List.of(step, coded), 1);

    List<float[]> exact =
        rows(Tensor.floats(Shape.of(1, count, FEATURES), random(count * FEATURES, 5)));
    Split parts = Split.even(sharded.placement().orElseThrow().mesh(), count, "token");
    Map<String, Tensor> inputs = new HashMap<>();
    for (int i = 0; i < LAYERS; i++) {
      inputs.put("past_key_" + i, Tensor.filled(CACHE, 0));
      inputs.put("past_value_" + i, Tensor.filled(CACHE, 0));
    }
    inputs.put("x", tokens(exact));
    Map<String, Tensor> outputs = new ProgramEvaluator(programs.get(1), 1).run(inputs);

    List<List<float[]>> history = new ArrayList<>();
    for (int i = 0; i < LAYERS; i++) {
      List<float[]> next = new ArrayList<>();
      for (int device = 0; device < devices; device++) {
        int from = (int) parts.from(device);
        int to = (int) parts.to(device);
        List<float[]> seen = view(exact, from, to, books.get(i));
        next.addAll(layer(i, seen).subList(from, to));
        if (device == devices - 1) {
          history.add(seen);
        }
      }
      exact = next;
    }
    assertClose(outputs.get("y"), tokens(exact));

    for (int position = count; position < count + 3; position++) {
      float[] token = random(FEATURES, position);
      Map<String, Tensor> given = new HashMap<>(states(outputs));
      given.put("x", tokens(List.of(token)));
      given.put("position", Tensor.longs(Shape.of(1), position));
      outputs = new ProgramEvaluator(programs.get(0), 1).run(given);
      for (int i = 0; i < LAYERS; i++) {
        history.get(i).add(token);
        token = layer(i, history.get(i)).getLast();
      }
      assertClose(outputs.get("y"), tokens(List.of(token)));
    }
    assertThat(programs.get(0).devices().getFirst().graph().nodes()).isEmpty();
  }

  private static void assertClose(Tensor found, Tensor expected) {
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(1e-5));
    }
  }
}
