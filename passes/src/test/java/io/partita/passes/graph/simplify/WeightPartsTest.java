package io.partita.passes.graph.simplify;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement.Slice;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WeightPartsTest {
  private static final int ROWS = 300;
  private static final int COLUMNS = 750;

  private static final Tensor WEIGHT = weight();

  private static Tensor weight() {
    float[] data = new float[ROWS * COLUMNS];
    for (int i = 0; i < data.length; i++) {
      data[i] = i;
    }
    return Tensor.of(new TensorType(ElementType.F32, Shape.of(ROWS, COLUMNS)), data);
  }

  private static Slice columns(long from, long count) {
    return new Slice(
        List.of(Dim.ZERO, Dim.of(from)), List.of(Dim.of(ROWS), Dim.of(count)), List.of(1L, 1L));
  }

  /** A graph that adds {@code x} to each of the slices. */
  private static Graph graph(boolean isWeightRead, Slice... slices) {
    GraphBuilder builder = new GraphBuilder("main");
    Value x = builder.input("x", new TensorType(ElementType.F32, Shape.of(1)));
    Value weight = builder.at("c_attn.weight").constant(WEIGHT);
    for (int i = 0; i < slices.length; i++) {
      Value part = builder.at("split").add(slices[i], weight);
      builder.output("y" + i, builder.add(new Elementwise.Binary(BinaryFunction.ADD), part, x));
    }
    if (isWeightRead) {
      builder.output("w", weight);
    }
    return builder.finish();
  }

  private static List<Node> constants(Graph before) {
    Graph after = new SimplifyPass().run(new Module(before)).graph();
    return after.nodes().stream().filter(node -> node.constant().isPresent()).toList();
  }

  @Test
  void slicesBecomeNumberedWeights() {
    Slice first = columns(0, 251);
    Slice second = columns(251, 499);
    List<Node> weights = constants(graph(false, second, first, second));
    assertThat(weights)
        .extracting(Node::name)
        .containsExactly("c_attn.weight.0", "c_attn.weight.1");
    List<Tensor> data = new ArrayList<>();
    weights.forEach(node -> data.add(node.constant().orElseThrow()));
    assertThat(data)
        .containsExactly(
            OpEvaluator.evaluate(first, List.of(WEIGHT)).getFirst(),
            OpEvaluator.evaluate(second, List.of(WEIGHT)).getFirst());
  }

  @Test
  void overlappingSlicesStayIfLargerThanTheWhole() {
    assertThat(constants(graph(false, columns(0, 400), columns(300, 450)))).hasSize(1);
  }

  @Test
  void weightsReadAsAWholeStay() {
    assertThat(constants(graph(true, columns(0, 300), columns(300, 450)))).hasSize(1);
  }
}
