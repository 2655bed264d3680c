package io.partita.passes.schedule.legalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class SiblingProductsTest {
  private final GraphBuilder graph = new GraphBuilder("siblings");

  private Value input(long... extents) {
    return graph.input("x", TensorType.of(ElementType.F32, extents));
  }

  private Value product(String name, Value x, long columns) {
    long rows = x.type().shape().fromEnd(0).value();
    Value weight = graph.constant(Tensor.filled(TensorType.of(ElementType.F32, rows, columns), 1));
    return graph.at(name).add(new Structured.Linear(false, false), x, weight);
  }

  private Value softmax(String name, Value x) {
    return graph.at(name).add(new Reduction.Softmax(1, false), x);
  }

  private List<String> order() {
    return SiblingProducts.together(Groups.of(graph.finish(), true)).stream()
        .map(group -> group.first().name())
        .toList();
  }

  @Test
  void productsOfOneValueFollowEachOther() {
    Value x = input(1, 8);
    graph.output("a", softmax("softmax a", product("a", x, 8)));
    graph.output("b", softmax("softmax b", product("b", x, 8)));
    graph.output("c", softmax("softmax c", product("c", x, 4)));
    assertThat(order())
        .as("c has another shape")
        .containsExactly("a", "b", "softmax a", "softmax b", "c", "softmax c");
  }

  @Test
  void noneIsComputedBeforeItsOperands() {
    Value x = input(1, 8);
    Value first = softmax("softmax", product("first", x, 8));
    Value weight = graph.at("weight").add(new Elementwise.Unary(UnaryFunction.EXP), first);
    Value square = graph.at("reshaped").add(new Movement.Broadcast(Shape.of(8, 8)), weight);
    graph.output("y", graph.at("second").add(new Structured.Linear(false, false), x, square));
    assertThat(order().getLast()).isEqualTo("second");
  }

  /** What devices wait for, or skip, is between the same steps as before. */
  @Test
  void noneIsMovedPastCommunication() {
    Value x = input(1, 8);
    Value first = softmax("softmax a", product("a", x, 8));
    Value runs = graph.input("runs", TensorType.of(ElementType.BOOL));
    graph.output("a", graph.at("gate").add(new Communication.Gate(), first, runs));
    graph.output("b", softmax("softmax b", product("b", x, 8)));
    assertThat(order()).containsExactly("a", "softmax a", "gate", "b", "softmax b");
  }

  @Test
  void largeProductsStay() {
    Value x = input(1025, 8);
    graph.output("a", softmax("softmax a", product("a", x, 1)));
    graph.output("b", softmax("softmax b", product("b", x, 1)));
    assertThat(order()).containsExactly("a", "softmax a", "b", "softmax b");
  }
}
