package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Small inputs of many loops are copied once, to where they stay. */
class KeptInputsTest extends EvaluatedLoops {
  /** Multiplies a row by the same matrix again and again. */
  private static Value products(GraphBuilder graph, ElementType element, long size, int count) {
    Value matrix = graph.input("matrix", TensorType.of(element, size, size));
    Value last = graph.input("row", TensorType.of(element, 1, size));
    for (int i = 0; i < count; i++) {
      last = graph.add(new Contraction.MatMul(element), last, matrix);
    }
    return last;
  }

  @Test
  void aMatrixThatFourLoopsRead() {
    assertThat(loops(graph -> products(graph, ElementType.I32, 8, 4), ROOM)).contains("[copy_32]");
  }

  @Test
  void othersAreLoadedByEachLoop() {
    assertThat(loops(graph -> products(graph, ElementType.I32, 8, 3), ROOM))
        .as("few readers")
        .doesNotContain("[copy_32]");
    assertThat(loops(graph -> products(graph, ElementType.I32, 9, 4), ROOM))
        .as("more than 256 bytes")
        .doesNotContain("[copy_32]");
  }

  @Test
  void inputsThatMoveStayWhereTheyAre() {
    List<String> loops =
        loops(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.I32, 1, 8));
              Value last = graph.add(new Movement.Reshape(x.type().shape()), x);
              for (int i = 0; i < 4; i++) {
                last = graph.add(new Elementwise.Binary(BinaryFunction.ADD), last, x);
              }
              Value part =
                  graph.add(
                      new Movement.Concat(0),
                      graph.add(new Elementwise.Binary(BinaryFunction.MUL), last, last),
                      x);
              return part;
            },
            ROOM);
    assertThat(loops.stream().filter("[copy_32]"::equals).count())
        .as("of the end only")
        .isEqualTo(1);
  }
}
