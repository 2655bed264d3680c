package io.partita.passes.graph.anatomy;

import static io.partita.passes.graph.raise.Raised.add;
import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.mul;
import static io.partita.passes.graph.raise.Raised.unary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.raise.RaisePass;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Tests blocks whose values are rounded between products, which are not raised. */
class SoftmaxBlocksTest {
  private int seed;

  private Value weight(GraphBuilder graph, long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    float[] data = new float[Math.toIntExact(type.shape().elements())];
    Arrays.fill(data, ++seed);
    data[0] = -1;
    return graph.constant(Tensor.of(type, data));
  }

  private static Value rounded(GraphBuilder graph, Value x) {
    graph.at("");
    return unary(graph, UnaryFunction.ROUND, x);
  }

  private Value linear(GraphBuilder graph, String name, Value x, long outputs) {
    Value weight = weight(graph, x.type().shape().fromEnd(0).value(), outputs);
    Value product = graph.at(name).add(new Contraction.MatMul(ElementType.F32), x, weight);
    return rounded(graph, product);
  }

  private Value norm(GraphBuilder graph, String name, Value x) {
    Value scale = weight(graph, 8);
    Value norm =
        graph
            .at(name)
            .add(new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false), x, scale);
    return rounded(graph, norm);
  }

  /** Two heads of 4 features. */
  private static Value heads(GraphBuilder graph, Value x) {
    Value apart = graph.add(new Movement.Reshape(Shape.of(2, 3, 2, 4)), x);
    return graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), apart);
  }

  private Value rotated(GraphBuilder graph, Value x) {
    Value turned = unary(graph, UnaryFunction.NEG, x);
    return add(graph, mul(graph, x, weight(graph, 4)), mul(graph, turned, weight(graph, 4)));
  }

  private Value attention(GraphBuilder graph, String layer, Value x) {
    Value q = rotated(graph, heads(graph, linear(graph, layer + "q", x, 8)));
    Value k = rotated(graph, heads(graph, linear(graph, layer + "k", x, 8)));
    Value v = heads(graph, linear(graph, layer + "v", x, 8));
    Value past = graph.input(layer + "past", v.type());
    Value keys = graph.add(new Movement.Concat(2), past, k);
    Value values = graph.add(new Movement.Concat(2), past, v);
    Value transposed = graph.add(new Movement.Transpose(List.of(0, 1, 3, 2)), keys);
    Contraction.MatMul product = new Contraction.MatMul(ElementType.F32);
    Value scores = rounded(graph, graph.at(layer + "scores").add(product, q, transposed));
    Value weights = graph.at(layer + "softmax").add(new Reduction.Softmax(3, false), scores);
    Value probabilities = rounded(graph, weights);
    Value context = graph.at(layer + "context").add(product, probabilities, values);
    Value joined = graph.add(new Movement.Transpose(List.of(0, 2, 1, 3)), rounded(graph, context));
    Value features = graph.add(new Movement.Reshape(Shape.of(2, 3, 8)), joined);
    return linear(graph, layer + "o", features, 8);
  }

  private Value gated(GraphBuilder graph, String layer, Value x) {
    Value gate = linear(graph, layer + "gate", x, 16);
    Value up = linear(graph, layer + "up", x, 16);
    Value sigmoid = rounded(graph, unary(graph, UnaryFunction.SIGMOID, gate));
    Value hidden = rounded(graph, mul(graph, up, rounded(graph, mul(graph, gate, sigmoid))));
    return linear(graph, layer + "down", hidden, 8);
  }

  private Value network(GraphBuilder graph, String layer, Value x) {
    Value up = linear(graph, layer + "up", x, 16);
    return linear(graph, layer + "down", rounded(graph, unary(graph, UnaryFunction.RELU, up)), 8);
  }

  private static Value sum(GraphBuilder graph, String name, Value left, Value right) {
    graph.at(name);
    Value sum = add(graph, left, right);
    graph.at("");
    return sum;
  }

  private static Module recorded(Function<GraphBuilder, Value> body) {
    GraphBuilder graph = new GraphBuilder("test");
    graph.output("y", body.apply(graph));
    return new RaisePass().run(new Module(graph.finish()));
  }

  /** The parts of nodes that have a name. */
  private static Map<String, String> parts(Function<GraphBuilder, Value> body) {
    Map<String, String> parts = new LinkedHashMap<>();
    for (Node node : recorded(body).graph().nodes()) {
      if (!node.name().isEmpty() && !(node.op() instanceof Source.Constant)) {
        parts.put(node.name(), node.origin().part());
      }
    }
    return parts;
  }

  @Test
  void preNormBlocks() {
    Map<String, String> parts =
        parts(
            graph -> {
              Value x = input(graph, "x", 2, 3, 8);
              for (String layer : List.of("0.", "1.")) {
                Value first = norm(graph, layer + "norm", x);
                Value sum = sum(graph, layer + "sum", attention(graph, layer, first), x);
                Value second = norm(graph, layer + "norm2", sum);
                x = sum(graph, layer + "sum2", gated(graph, layer, second), sum);
              }
              return linear(graph, "classes", norm(graph, "last", x), 5);
            });
    for (int block = 0; block < 2; block++) {
      assertThat(parts)
          .contains(
              entry(block + ".norm", "block" + block + ".norm"),
              entry(block + ".q", "block" + block + ".query"),
              entry(block + ".k", "block" + block + ".key"),
              entry(block + ".v", "block" + block + ".value"),
              entry(block + ".scores", "block" + block + ".attention"),
              entry(block + ".softmax", "block" + block + ".attention"),
              entry(block + ".context", "block" + block + ".attention"),
              entry(block + ".o", "block" + block + ".output"),
              entry(block + ".sum", "block" + block + ".residual"),
              entry(block + ".norm2", "block" + block + ".norm"),
              entry(block + ".gate", "block" + block + ".gate"),
              entry(block + ".up", "block" + block + ".up"),
              entry(block + ".down", "block" + block + ".down"),
              entry(block + ".sum2", "block" + block + ".residual"));
    }
    assertThat(parts).containsEntry("last", "norm");
    assertThat(parts.get("classes")).doesNotContain("block");
  }

  @Test
  void postNormBlocks() {
    Map<String, String> parts =
        parts(
            graph -> {
              Value x = norm(graph, "first", input(graph, "x", 2, 3, 8));
              for (String layer : List.of("0.", "1.")) {
                Value sum = sum(graph, layer + "sum", attention(graph, layer, x), x);
                Value inner = norm(graph, layer + "norm", sum);
                Value outer = sum(graph, layer + "sum2", network(graph, layer, inner), inner);
                x = norm(graph, layer + "norm2", outer);
              }
              return x;
            });
    assertThat(parts)
        .contains(
            entry("first", "norm"),
            entry("0.norm", "block0.norm"),
            entry("0.up", "block0.up"),
            entry("0.down", "block0.down"),
            entry("0.norm2", "block0.norm"),
            entry("1.q", "block1.query"),
            entry("1.norm2", "block1.norm"));
  }

  @Test
  void parallelNetworksBelongToTheBlock() {
    Map<String, String> parts =
        parts(
            graph -> {
              Value x = input(graph, "x", 2, 3, 8);
              for (String layer : List.of("0.", "1.")) {
                Value norm = norm(graph, layer + "norm", x);
                Value network = network(graph, layer, norm);
                Value both = add(graph, network, attention(graph, layer, norm));
                x = sum(graph, layer + "sum", both, x);
              }
              return x;
            });
    assertThat(parts)
        .contains(
            entry("0.up", "block0.up"),
            entry("0.down", "block0.down"),
            entry("1.up", "block1.up"),
            entry("1.down", "block1.down"));
  }

  @Test
  void classifierSoftmaxIsNotABlock() {
    Module module =
        recorded(
            graph -> {
              Value scores = linear(graph, "classes", input(graph, "x", 2, 3, 8), 5);
              return graph.add(new Reduction.Softmax(2, false), scores);
            });
    assertThat(module.graph().nodes()).allMatch(node -> node.origin().part().isEmpty());
  }
}
