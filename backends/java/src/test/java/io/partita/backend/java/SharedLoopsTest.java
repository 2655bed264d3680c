package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Long loops are methods, which equal steps share. */
class SharedLoopsTest {
  /** Two gathers and scalings by rows that are alike, and one scaling of another row. */
  private static Graph steps(long rows) {
    GraphBuilder builder = new GraphBuilder("steps");
    Value x = builder.input("x", TensorType.of(ElementType.F32, rows, 5));
    Value indices = builder.input("indices", TensorType.of(ElementType.I64, 4));
    for (int i = 0; i < 2; i++) {
      Value chosen = builder.add(new Movement.Gather(1), x, indices);
      float[] row = {i, -1, 2.5f, 3};
      Value scale = builder.constant(Tensor.floats(Shape.of(4), row));
      builder.output(
          "row" + i, builder.add(new Elementwise.Binary(BinaryFunction.MUL), chosen, scale));
      Value half = builder.constant(Tensor.scalar(ElementType.F32, 0.5));
      Value halved = builder.add(new Elementwise.Binary(BinaryFunction.MUL), chosen, half);
      builder.output(
          "half" + i, builder.add(new Elementwise.Binary(BinaryFunction.ADD), halved, chosen));
    }
    return builder.finish();
  }

  private static String source(long rows) throws IOException {
    return JavaBackend.emit(new Module(steps(rows)), new JavaOptions("shared", "Steps"))
        .files()
        .getFirst()
        .text();
  }

  @Test
  void equalStepsShareAMethod() throws IOException {
    String source = source(1024);
    assertThat(source.split("eachGather\\(", -1)).hasSize(4);
    assertThat(source.split("eachMul\\(", -1)).hasSize(4);
    assertThat(source.split("eachMulAdd\\(", -1)).hasSize(4);
    assertThat(source)
        .containsOnlyOnce("static void eachGather(float[] x, long[] indices, float[] y)");
    assertThat(source).containsOnlyOnce("static void eachMul(float[] x0, float[] x1, float[] y)");
    assertThat(source).doesNotContain("eachMul_2");
  }

  @Test
  void shortLoopsStayInline() throws IOException {
    assertThat(source(1023)).doesNotContain("each");
  }

  @Test
  void methodsAgreeWithTheEvaluator() {
    Tensor x = EmittedPrograms.random(new Random(5), TensorType.of(ElementType.F32, 1024, 5));
    Tensor indices = Tensor.longs(Shape.of(4), new long[] {4, 0, -1, 2});
    try (EmittedPrograms programs = new EmittedPrograms()) {
      programs.assertAgrees(steps(1024), List.of(x, indices), 0);
    }
  }
}
