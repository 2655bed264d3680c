package io.partita.passes.schedule.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SharingTest {
  private static Sharing of(Graph graph) {
    Map<Node, Integer> steps = new HashMap<>();
    graph.nodes().forEach(node -> steps.put(node, steps.size()));
    return new Sharing(graph, StoredTypes.of(graph, false), steps, node -> false);
  }

  /**
   * A cast between integers of equal width is a view, so its region lives as long as the output.
   */
  @ParameterizedTest
  @EnumSource(
      value = ElementType.class,
      names = {"U8", "I16"})
  void castsOfTheSameBitsShareARegion(ElementType to) {
    GraphBuilder graph = new GraphBuilder("g");
    Value x = graph.input("x", TensorType.of(ElementType.I8, 4, 6));
    Value y = graph.add(new Elementwise.Unary(UnaryFunction.NEG), x);
    Value cast = graph.add(new Elementwise.Cast(to), y);
    Value reshaped = graph.add(new Movement.Reshape(Shape.of(24)), cast);
    graph.output("y", y);
    graph.output("z", graph.add(new Elementwise.Unary(UnaryFunction.ABS), reshaped));
    assertThat(of(graph.finish()).lastReader(reshaped))
        .isEqualTo(to == ElementType.U8 ? Integer.MAX_VALUE : 3);
  }

  @Test
  void valuesWithoutViewsAreReadByTheirOwnReaders() {
    GraphBuilder graph = new GraphBuilder("g");
    Value x = graph.input("x", TensorType.of(ElementType.I32, 4));
    Value y = graph.add(new Elementwise.Unary(UnaryFunction.NEG), x);
    graph.output("z", graph.add(new Elementwise.Unary(UnaryFunction.ABS), y));
    assertThat(of(graph.finish()).lastReader(y)).isEqualTo(1);
  }
}
