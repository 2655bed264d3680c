package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import org.assertj.core.data.Offset;

/**
 * An attention of two heads over a cache, whose new queries, keys and values are inputs, and the
 * same with its cache as state. Tests run both.
 */
final class SmallDecoder {
  static final int CAPACITY = 12;
  static final int HEADS = 2;
  static final int FEATURES = 4;
  static final int BATCH = 2;
  static final Dim PAST = Dim.symbol("past");

  /** The same few products and a softmax over the same keys in another order of operations. */
  private static final double TOLERANCE = 1e-5;

  final GraphBuilder graph = new GraphBuilder("decoder");
  final int n;
  private final double valueScale;
  final List<Diagnostic> notes = new ArrayList<>();
  private Module module;
  private Module state;

  SmallDecoder(int n) {
    this(n, 0);
  }

  /**
   * @param valueScale the scale of values of an attention of integers; 0 for floats
   */
  SmallDecoder(int n, double valueScale) {
    this.n = n;
    this.valueScale = valueScale;
  }

  private ElementType element() {
    return valueScale == 0 ? ElementType.F32 : ElementType.I8;
  }

  Dim total() {
    return PAST.plus(n);
  }

  Value input(String name, ElementType element, Dim... shape) {
    return graph.input(name, new TensorType(element, Shape.of(shape)));
  }

  Value fresh(String name) {
    return input(name, element(), Dim.of(BATCH), Dim.of(HEADS), Dim.of(n), Dim.of(FEATURES));
  }

  /** The input of ones, {@code i64[batch, past+n]}. */
  Value attentionMask() {
    return input("attention_mask", ElementType.I64, Dim.of(BATCH), total());
  }

  /** Positions of queries, {@code i64[n, 1]}. */
  Value queries() {
    Value iota = graph.add(new Source.Iota(Dim.of(n), ElementType.I64));
    Value at = binary(BinaryFunction.ADD, iota, graph.add(new Source.Extent(PAST)));
    return graph.add(new Movement.Reshape(Shape.of(n, 1)), at);
  }

  /** Positions of keys, {@code i64[past+n]}. */
  Value keys() {
    return graph.add(new Source.Iota(total(), ElementType.I64));
  }

  Value binary(BinaryFunction function, Value left, Value right) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }

  Value whole(long number) {
    return graph.constant(Tensor.scalar(ElementType.I64, number));
  }

  Value real(double number) {
    return graph.constant(Tensor.scalar(ElementType.F32, number));
  }

  Value cast(Value value, ElementType to) {
    return graph.add(new Elementwise.Cast(to), value);
  }

  Value select(Value condition, Value then, Value otherwise) {
    return graph.add(new Elementwise.Select(), condition, then, otherwise);
  }

  /** Makes an attention with plain caches and a mask the decoder. */
  SmallDecoder masked(Function<SmallDecoder, Value> mask) {
    Value keys = joined("key");
    Value values = joined("value");
    return attend(keys, values, mask.apply(this));
  }

  private Value joined(String what) {
    Value past =
        input("past_" + what, element(), Dim.of(BATCH), Dim.of(HEADS), PAST, Dim.of(FEATURES));
    Value joined = graph.add(new Movement.Concat(2), past, fresh(what));
    graph.output("present_" + what, joined);
    return joined;
  }

  SmallDecoder attend(Value keys, Value values, Value mask) {
    Structured.Attention attention =
        new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, mask != null, false, valueScale);
    List<Value> operands = new ArrayList<>(List.of(fresh("query"), keys, values));
    if (mask != null) {
      operands.add(mask);
    }
    graph.output("y", graph.add(attention, operands));
    return this;
  }

  Module state() {
    if (state == null) {
      module = new Module(graph.finish());
      state = new KvStatePass(CAPACITY, notes::add).run(module);
    }
    return state;
  }

  /** Returns the only attention that uses the state. */
  Structured.Attention attention() {
    List<Node> nodes =
        state().graph().nodes().stream()
            .filter(node -> node.op() instanceof Structured.Attention)
            .toList();
    assertThat(nodes).hasSize(1);
    return (Structured.Attention) nodes.getFirst().op();
  }

  /** Runs both from an empty cache until it is full, n tokens at a time. */
  SmallDecoder agrees() {
    Graph fixed = state().graph();
    assertThat(fixed.symbols()).isEmpty();
    Random random = new Random(3);
    Map<String, Tensor> past = new HashMap<>();
    Map<String, Tensor> kept = new HashMap<>();
    for (int position = 0; position + n <= CAPACITY; position += n) {
      Graph growing = DimensionBinding.bind(module.graph(), Map.of("past", Dim.of(position)));
      Map<String, Tensor> given = new HashMap<>();
      for (Value input : growing.inputs()) {
        given.put(input.name(), given(input, position, past, random));
      }
      Map<String, Tensor> stateful = new HashMap<>(given);
      for (Value input : fixed.inputs()) {
        if (input.name().equals("position")) {
          stateful.put(input.name(), Tensor.filled(input.type(), position));
        } else if (input.name().startsWith("past")) {
          stateful.put(input.name(), kept.getOrDefault(input.name(), garbage(input.type())));
        }
      }
      Map<String, Tensor> expected = run(growing, given);
      Map<String, Tensor> found = run(fixed, stateful);
      for (String name : expected.keySet()) {
        if (!name.startsWith("present")) {
          assertAgree(expected.get(name), found.get(name), position);
        }
      }
      expected.forEach((name, value) -> past.put(name.replace("present", "past"), value));
      state.states().forEach(s -> kept.put(s.input(), found.get(s.output())));
    }
    return this;
  }

  private Tensor given(Value input, int position, Map<String, Tensor> past, Random random) {
    TensorType type = input.type();
    if (past.containsKey(input.name())) {
      return past.get(input.name());
    }
    if (input.name().contains("mask")) {
      return Tensor.filled(type, 1);
    }
    double[] values = new double[Math.toIntExact(type.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          input.name().contains("pos")
              ? position + i % type.shape().fromEnd(0).value()
              : type.element() == ElementType.I8 ? random.nextInt(-9, 10) : random.nextGaussian();
    }
    return Tensor.ofDoubles(type, values);
  }

  /** The content of a cache after its last token must not affect results. */
  private static Tensor garbage(TensorType type) {
    return Tensor.filled(type, 7);
  }

  static Map<String, Tensor> run(Graph graph, Map<String, Tensor> inputs) {
    List<Tensor> results =
        Evaluator.run(graph, graph.inputs().stream().map(in -> inputs.get(in.name())).toList());
    Map<String, Tensor> outputs = new HashMap<>();
    for (int i = 0; i < results.size(); i++) {
      outputs.put(graph.outputs().get(i).name(), results.get(i));
    }
    return outputs;
  }

  private static void assertAgree(Tensor expected, Tensor found, int position) {
    assertThat(found.type()).isEqualTo(expected.type());
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.getDouble(i))
          .as("element %d after %d tokens", i, position)
          .isCloseTo(expected.getDouble(i), Offset.offset(TOLERANCE));
    }
  }
}
