package io.partita.ir.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EvaluatorTest {
  private static final TensorType PAIR = TensorType.of(ElementType.F32, 2);

  @Test
  void runsNodesInOrderAndReportsEach() {
    GraphBuilder builder = new GraphBuilder("g");
    Value x = builder.input("x", PAIR);
    Value y = builder.input("y", PAIR);
    Value sum = builder.at("sum").add(new Elementwise.Binary(BinaryFunction.ADD), x, y);
    Value negated = builder.at("neg").add(new Elementwise.Unary(UnaryFunction.NEG), sum);
    Value best =
        builder.at("top").addNode(new Reduction.TopK(1, 0, true), List.of(x)).results().get(1);
    builder.output("negated", negated);
    builder.output("x", x);
    builder.output("best", best);
    Graph graph = builder.finish();
    Tensor a = Tensor.floats(Shape.of(2), 1, 2);
    Tensor b = Tensor.floats(Shape.of(2), 10, 20);
    List<String> seen = new ArrayList<>();
    List<Tensor> outputs =
        Evaluator.run(graph, List.of(a, b), (node, results) -> seen.add(node.name() + results));
    assertThat(outputs)
        .containsExactly(Tensor.floats(Shape.of(2), -11, -22), a, Tensor.longs(Shape.of(1), 1));
    assertThat(seen)
        .containsExactly(
            "sum[f32[2] {11.0, 22.0}]",
            "neg[f32[2] {-11.0, -22.0}]",
            "top[f32[1] {2.0}, i64[1] {1}]");
  }

  @Tag("thorough")
  @Test
  void longChainsNeedLittleStackAndMemory() {
    GraphBuilder builder = new GraphBuilder("chain");
    TensorType type = TensorType.of(ElementType.F32, 1000);
    Value value = builder.input("x", type);
    for (int i = 0; i < 100_000; i++) {
      value = builder.add(new Elementwise.Unary(UnaryFunction.NEG), value);
    }
    builder.output("y", value);
    Tensor x = Evaluated.random(1, 1000);
    assertThat(Evaluator.run(builder.finish(), List.of(x))).containsExactly(x);
  }

  private static Graph negation(TensorType type) {
    GraphBuilder builder = new GraphBuilder("g");
    builder.output(
        "y", builder.add(new Elementwise.Unary(UnaryFunction.NEG), builder.input("x", type)));
    return builder.finish();
  }

  @Test
  void inputsMustFit() {
    Tensor three = Tensor.floats(Shape.of(3), 1, 2, 3);
    assertThatThrownBy(() -> Evaluator.run(negation(PAIR), List.of(three)))
        .hasMessage(
            """
            error P3201: an input doesn't fit the graph
              where:     input "x"
              expected:  f32[2]
              found:     f32[3]
              fix:       give a tensor of this type, or bind the model's dimensions to other numbers""");
    assertThatThrownBy(() -> Evaluator.run(negation(PAIR), List.of()))
        .hasMessageContaining("expected:  1 inputs\n  found:     0");
  }

  @Test
  void dimensionsMustBeBound() {
    TensorType open = new TensorType(ElementType.F32, Shape.of(Dim.symbol("seq")));
    assertThatThrownBy(() -> Evaluator.run(negation(open), List.of(Tensor.floats(Shape.of(1), 1))))
        .hasMessage(
            """
            error P3203: a dimension is not bound to a number
              where:     input "x"
              expected:  static dimensions
              found:     f32[seq]
              fix:       bind its symbols, such as --dim seq=128""");
  }

  @Test
  void failuresNameTheNode() {
    GraphBuilder builder = new GraphBuilder("g");
    Value x = builder.input("x", PAIR);
    Value i = builder.input("i", TensorType.of(ElementType.I64, 1));
    builder.output("y", builder.at("/embed/Gather").add(new Movement.Gather(0), x, i));
    assertThatThrownBy(
            () ->
                Evaluator.run(
                    builder.finish(),
                    List.of(Tensor.floats(Shape.of(2), 1, 2), Tensor.longs(Shape.of(1), 7))))
        .hasMessageContaining("P3202")
        .hasMessageContaining("where:     node gather \"/embed/Gather\"");
  }

  @Test
  void resultsTooLargeForArraysAreReported() {
    Movement.Broadcast huge = new Movement.Broadcast(Shape.of(1L << 20, 1L << 20, 2));
    assertThatThrownBy(() -> Evaluated.of(huge, Tensor.floats(Shape.of(2), 1, 2)))
        .hasMessageContaining("error P3204: a tensor is too large to evaluate");
  }
}
