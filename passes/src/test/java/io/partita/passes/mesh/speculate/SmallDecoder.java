package io.partita.passes.mesh.speculate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A decoder of two blocks over KV caches, from features to features, with seeded weights. */
final class SmallDecoder {
  static final int BLOCKS = 2;
  static final int FEATURES = 16;
  static final int HEADS = 4;
  static final int SIZE = 4;
  static final int CAPACITY = 24;

  /** Whether each block accepts its approximation, in all combinations. */
  static final List<List<Boolean>> OUTCOMES =
      List.of(
          List.of(false, false), List.of(false, true), List.of(true, false), List.of(true, true));

  private static final TensorType CACHE = TensorType.of(ElementType.F32, 1, HEADS, CAPACITY, SIZE);

  private final SplittableRandom random = new SplittableRandom(5);
  private final GraphBuilder graph = new GraphBuilder("decoder");

  private SmallDecoder() {}

  static Module module() {
    return new SmallDecoder().build();
  }

  private Module build() {
    Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 1, FEATURES));
    Value position = graph.input("position", TensorType.of(ElementType.I64, 1));
    Value length =
        graph
            .at("length")
            .add(
                new Elementwise.Binary(BinaryFunction.ADD),
                position,
                graph.constant(Tensor.scalar(ElementType.I64, 1)));
    List<Module.State> states = new ArrayList<>();
    for (int block = 0; block < BLOCKS; block++) {
      x = block(block, x, position, length);
      states.add(new Module.State("key" + block, "new_key" + block));
      states.add(new Module.State("value" + block, "new_value" + block));
    }
    graph.output("y", graph.at("head").add(linear(), norm(x), weight(FEATURES, 24)));
    return new Module(graph.finish(), states);
  }

  private Value block(int block, Value x, Value position, Value length) {
    graph.at("block" + block);
    Value normed = norm(x);
    Value query = heads(normed);
    Value key = updated("key" + block, heads(normed), position);
    Value value = updated("value" + block, heads(normed), position);
    Value attention =
        graph.add(
            new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, true),
            query,
            key,
            value,
            length);
    Value joined = graph.add(new Movement.Reshape(Shape.of(1, 1, FEATURES)), attention);
    Value residual = add(x, graph.add(linear(), joined, weight(FEATURES, FEATURES)));
    Value network =
        graph.add(
            new Structured.Ffn(UnaryFunction.SILU, true, false, false, false),
            norm(residual),
            weight(FEATURES, 32),
            weight(FEATURES, 32),
            weight(32, FEATURES));
    return add(residual, network);
  }

  private Value updated(String name, Value added, Value position) {
    Value cache = graph.input(name, CACHE);
    Value updated = graph.add(new Structured.CacheUpdate(2, false), cache, added, position);
    graph.output("new_" + name, updated);
    return updated;
  }

  private Value heads(Value x) {
    Value projected = graph.add(linear(), x, weight(FEATURES, HEADS * SIZE));
    return graph.add(new Movement.Reshape(Shape.of(1, HEADS, 1, SIZE)), projected);
  }

  private Value norm(Value x) {
    return graph.add(new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false), x, ones());
  }

  private Value ones() {
    return graph.constant(Tensor.filled(TensorType.of(ElementType.F32, FEATURES), 1));
  }

  private static Structured.Linear linear() {
    return new Structured.Linear(false, false);
  }

  private Value add(Value left, Value right) {
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private Value weight(int in, int out) {
    double[] data = random.doubles((long) in * out, -0.7, 0.7).toArray();
    return graph.constant(Tensor.ofDoubles(TensorType.of(ElementType.F32, in, out), data));
  }

  /**
   * A speculating decoder some of whose blocks accept no approximation, whatever lambda is.
   *
   * @param lambda that of the module, above 0
   * @param accepts for each block, whether it is left as it is
   */
  static Module accepting(Module module, double lambda, List<Boolean> accepts) {
    float bound = (float) (lambda * lambda);
    List<Node> bounds =
        module.graph().nodes().stream()
            .filter(
                node ->
                    node.constant()
                        .filter(data -> data.size() == 1 && data.element() == ElementType.F32)
                        .filter(data -> data.getDouble(0) == bound)
                        .isPresent())
            .toList();
    assertThat(bounds).hasSize(BLOCKS);
    GraphEditor editor = new GraphEditor(module.graph());
    for (int block = 0; block < BLOCKS; block++) {
      if (!accepts.get(block)) {
        Node node = bounds.get(block);
        editor.before(node);
        editor.replace(node.result(), editor.constant(Tensor.filled(node.result().type(), 0)));
      }
    }
    return module.with(editor.freeze());
  }

  /** The features of a token, and its position. */
  static Map<String, Tensor> token(int position) {
    double[] data = new SplittableRandom(position + 77).doubles(FEATURES, -1, 1).toArray();
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    inputs.put("x", Tensor.ofDoubles(TensorType.of(ElementType.F32, 1, 1, FEATURES), data));
    inputs.put("position", Tensor.longs(Shape.of(1), position));
    return inputs;
  }

  /** Empty caches by the name of their input. */
  static Map<String, Tensor> caches(Module module) {
    Map<String, Tensor> caches = new LinkedHashMap<>();
    module.states().forEach(state -> caches.put(state.input(), Tensor.filled(CACHE, 0)));
    return caches;
  }
}
