package io.partita.passes.graph.raise;

import static io.partita.passes.graph.raise.Raised.input;
import static io.partita.passes.graph.raise.Raised.weight;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Window;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmbeddingRulesTest {
  @Test
  void lookupInAWeight() {
    Raised raised =
        Raised.of(
            graph ->
                graph.add(
                    new Movement.Gather(0),
                    weight(graph, 10, 4),
                    graph.input("ids", TensorType.of(ElementType.I64, 2, 3))));
    assertThat(raised.operations()).containsExactly("embedding");
    raised.agrees(0);
  }

  @Test
  void lookupsInInputsAreNotEmbeddings() {
    Raised raised =
        Raised.of(
            graph ->
                graph.add(
                    new Movement.Gather(0),
                    input(graph, "table", 10, 4),
                    graph.input("ids", TensorType.of(ElementType.I64, 2, 3))));
    assertThat(raised.operations()).containsExactly("gather");
  }

  private static Value patches(GraphBuilder graph, long stride) {
    List<Long> zero = List.of(0L, 0L);
    List<Long> one = List.of(1L, 1L);
    Window window = new Window(List.of(4L, 4L), List.of(stride, stride), one, zero, zero);
    Value image = input(graph, "image", 2, 3, 8, 12);
    Value map =
        graph.add(
            new Contraction.Convolution(window, 1, true, ElementType.F32),
            image,
            weight(graph, 5, 3, 4, 4),
            weight(graph, 5));
    Shape shape = map.type().shape();
    Value flat =
        graph.add(
            new Movement.Reshape(
                Shape.of(shape.dim(0), shape.dim(1), shape.dim(2).times(shape.dim(3)))),
            map);
    return graph.add(new Movement.Transpose(List.of(0, 2, 1)), flat);
  }

  @Test
  void convolutionOfAdjacentPatches() {
    Raised raised = Raised.of(graph -> patches(graph, 4));
    assertThat(raised.operations()).containsExactly("patch_embedding");
    // Sums of 48 products in another order.
    raised.agrees(1e-5);
  }

  @Test
  void overlappingPatchesRemainAConvolution() {
    Raised raised = Raised.of(graph -> patches(graph, 2));
    assertThat(raised.operations()).contains("convolution").doesNotContain("patch_embedding");
  }
}
