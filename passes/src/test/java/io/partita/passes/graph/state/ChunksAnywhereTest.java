package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a decoder has the same results for chunks of random lengths as token by token. */
class ChunksAnywhereTest {
  private static final List<Integer> LENGTHS = List.of(1, 2, 3, 5);

  private static final int TRIALS = 20;

  /** The tolerance for a few products and a softmax in another order of operations. */
  private static final double TOLERANCE = 1e-5;

  static Stream<Arguments> masks() {
    return Stream.of(
        mask("causal with padding", KvStateMasksTest::productWithPadding),
        mask("window", KvStateMasksTest::localSum),
        mask("bias by key", KvStateMasksTest::runningSum),
        mask("bias by distance", KvStateMasksTest::buckets),
        mask("table", KvStateMasksTest::blocks));
  }

  private static Arguments mask(String name, Function<SmallDecoder, Value> mask) {
    return Arguments.of(name, mask);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("masks")
  void chunksAgreeWithTokens(String name, Function<SmallDecoder, Value> mask) {
    Map<Integer, Module> decoders = new HashMap<>();
    for (int n : LENGTHS) {
      decoders.put(n, new SmallDecoder(n).masked(mask).state());
    }
    Random random = new Random(11);
    for (int trial = 0; trial < TRIALS; trial++) {
      Map<String, double[]> tokens = new HashMap<>();
      Stream.of("query", "key", "value")
          .forEach(what -> tokens.put(what, random.doubles(size(SmallDecoder.CAPACITY)).toArray()));
      Run single = new Run(decoders, tokens);
      Run chunked = new Run(decoders, tokens);
      while (chunked.position < SmallDecoder.CAPACITY) {
        int left = SmallDecoder.CAPACITY - chunked.position;
        List<Integer> fitting = LENGTHS.stream().filter(n -> n <= left).toList();
        int n = fitting.get(random.nextInt(fitting.size()));
        Tensor several = chunked.take(n);
        for (int i = 0; i < n; i++) {
          requireRow(single.take(1), several, n, i, single.position);
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("masks")
  void masksOfChunksAgree(String name, Function<SmallDecoder, Value> mask) {
    Module step = new SmallDecoder(1).masked(mask).state();
    Module chunk = new SmallDecoder(3).masked(mask).state();
    assertThat(ChunkAgreement.difference(step, chunk)).isEmpty();
  }

  @Test
  void masksForASingleTokenDisagree() {
    for (Function<SmallDecoder, Value> mask :
        List.<Function<SmallDecoder, Value>>of(
            KvStateMasksTest::nothing, KvStateMasksTest::aHole, ChunksAnywhereTest::byRow)) {
      Module step = new SmallDecoder(1).masked(mask).state();
      Module chunk = new SmallDecoder(3).masked(mask).state();
      assertThat(ChunkAgreement.difference(step, chunk)).isPresent();
    }
  }

  /** Hides keys after the row of the query instead of its position. */
  private static Value byRow(SmallDecoder d) {
    Value iota = d.graph.add(new Source.Iota(Dim.of(d.n), ElementType.I64));
    Value row = d.graph.add(new Movement.Reshape(Shape.of(d.n, 1)), iota);
    return d.binary(BinaryFunction.LESS_OR_EQUAL, d.keys(), row);
  }

  private static int size(int tokens) {
    return SmallDecoder.BATCH * SmallDecoder.HEADS * tokens * SmallDecoder.FEATURES;
  }

  private static void requireRow(Tensor one, Tensor several, int n, int row, int position) {
    int features = SmallDecoder.FEATURES;
    for (int i = 0; i < one.size(); i++) {
      int group = i / features;
      assertThat(several.getDouble((group * n + row) * features + i % features))
          .as("token %d, row %d of %d", position, row, n)
          .isCloseTo(one.getDouble(i), Offset.offset(TOLERANCE));
    }
  }

  /** One sequence on its way through a cache. */
  private static final class Run {
    private final Map<Integer, Module> decoders;
    private final Map<String, double[]> tokens;
    private final Map<String, Tensor> kept = new HashMap<>();
    private int position;

    Run(Map<Integer, Module> decoders, Map<String, double[]> tokens) {
      this.decoders = decoders;
      this.tokens = tokens;
    }

    /** Returns the results of the next n tokens. */
    Tensor take(int n) {
      Module module = decoders.get(n);
      Map<String, Tensor> inputs = new HashMap<>();
      for (Value input : module.graph().inputs()) {
        inputs.put(input.name(), input(input, n));
      }
      Map<String, Tensor> outputs = SmallDecoder.run(module.graph(), inputs);
      module.states().forEach(state -> kept.put(state.input(), outputs.get(state.output())));
      position += n;
      return outputs.get("y");
    }

    private Tensor input(Value input, int n) {
      if (input.name().equals("position")) {
        return Tensor.filled(input.type(), position);
      }
      return tokens.containsKey(input.name())
          ? part(tokens.get(input.name()), n)
          : kept.getOrDefault(input.name(), Tensor.filled(input.type(), 7));
    }

    private Tensor part(double[] all, int n) {
      int features = SmallDecoder.FEATURES;
      double[] part = new double[size(n)];
      for (int group = 0; group < SmallDecoder.BATCH * SmallDecoder.HEADS; group++) {
        System.arraycopy(
            all,
            (group * SmallDecoder.CAPACITY + position) * features,
            part,
            group * n * features,
            n * features);
      }
      Shape shape = Shape.of(SmallDecoder.BATCH, SmallDecoder.HEADS, n, features);
      return Tensor.ofDoubles(new TensorType(ElementType.F32, shape), part);
    }
  }
}
