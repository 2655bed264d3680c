package io.partita.passes.graph.raise;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.DimensionBinding;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/** A small graph before and after raising. */
public final class Raised {
  private final Graph before;
  private final Graph after;

  private Raised(Graph before) {
    this.before = before;
    this.after = new RaisePass().run(new Module(before)).graph();
  }

  /** A graph whose only output is the result of {@code body}. */
  public static Raised of(Function<GraphBuilder, Value> body) {
    GraphBuilder graph = new GraphBuilder("test");
    graph.output("y", body.apply(graph));
    return new Raised(graph.finish());
  }

  public Graph graph() {
    return after;
  }

  /** Returns the mnemonics of all nodes except constants, in order. */
  public List<String> operations() {
    return after.nodes().stream()
        .filter(node -> !(node.op() instanceof Source.Constant))
        .map(node -> node.op().mnemonic())
        .toList();
  }

  /** Returns the only node of this kind. */
  public <O extends Op> O only(Class<O> type) {
    List<Node> nodes = after.nodes().stream().filter(node -> type.isInstance(node.op())).toList();
    assertThat(nodes).hasSize(1);
    return type.cast(nodes.getFirst().op());
  }

  /**
   * Asserts that both graphs give the same numbers, up to a relative and absolute {@code
   * tolerance}.
   */
  public Raised agrees(double tolerance) {
    return agrees(tolerance, Map.of());
  }

  /** Like {@link #agrees(double)}, with symbols bound to extents. */
  public Raised agrees(double tolerance, Map<String, Dim> extents) {
    Graph original = DimensionBinding.bind(before, extents);
    Graph raised = DimensionBinding.bind(after, extents);
    List<Tensor> inputs = new ArrayList<>();
    Random random = new Random(7);
    for (Value input : original.inputs()) {
      inputs.add(random(input.type(), random));
    }
    Tensor expected = Evaluator.run(original, inputs).getFirst();
    Tensor found = Evaluator.run(raised, inputs).getFirst();
    assertThat(found.type()).isEqualTo(expected.type());
    for (int i = 0; i < expected.size(); i++) {
      double value = expected.getDouble(i);
      assertThat(found.getDouble(i))
          .as("element %d", i)
          .isCloseTo(value, org.assertj.core.data.Offset.offset(tolerance * (1 + Math.abs(value))));
    }
    return this;
  }

  private static Tensor random(TensorType type, Random random) {
    double[] values = new double[(int) type.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = type.element().isFloat() ? random.nextGaussian() : random.nextInt(2);
    }
    return Tensor.ofDoubles(type, values);
  }

  /** Seeded weights. */
  public static Value weight(GraphBuilder graph, long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    return graph.constant(random(type, new Random(Shape.of(extents).hashCode())));
  }

  public static Value number(GraphBuilder graph, double value) {
    return graph.constant(Tensor.scalar(ElementType.F32, value));
  }

  public static Value unary(GraphBuilder graph, UnaryFunction function, Value x) {
    return graph.add(new Elementwise.Unary(function), x);
  }

  public static Value add(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  public static Value mul(GraphBuilder graph, Value left, Value right) {
    return graph.add(new Elementwise.Binary(BinaryFunction.MUL), left, right);
  }

  public static Value binary(GraphBuilder graph, BinaryFunction function, Value left, Value right) {
    return graph.add(new Elementwise.Binary(function), left, right);
  }

  public static Value input(GraphBuilder graph, String name, long... extents) {
    return graph.input(name, TensorType.of(ElementType.F32, extents));
  }

  public static Value input(GraphBuilder graph, String name, Dim... dims) {
    return graph.input(name, new TensorType(ElementType.F32, Shape.of(dims)));
  }
}
