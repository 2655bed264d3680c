package io.partita.passes.graph.raise;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that numbered weights are named after their module, and others keep their names. */
class NameWeightsTest {
  private static final TensorType MATRIX = TensorType.of(ElementType.F32, 4, 4);

  /** Returns the names of constants of products with weights and nodes of given names. */
  private static List<String> named(List<String> weights, List<String> readers) {
    GraphBuilder builder = new GraphBuilder("test");
    Value x = builder.input("x", MATRIX);
    for (int i = 0; i < weights.size(); i++) {
      Value weight = builder.constant(weights.get(i), Tensor.filled(MATRIX, i));
      x = builder.at(readers.get(i)).add(new Contraction.MatMul(ElementType.F32), x, weight);
    }
    builder.output("y", x);
    GraphEditor editor = new GraphEditor(builder.finish());
    NameWeights.apply(editor);
    Graph graph = editor.freeze();
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Source.Constant)
        .map(Node::name)
        .toList();
  }

  @Test
  void aNumberedWeightIsNamedAfterItsModule() {
    assertThat(
            named(
                List.of("onnx::MatMul_874", "17"),
                List.of("/layers.0/mlp/up_proj/MatMul", "/layers.0/mlp/down_proj/MatMul")))
        .containsExactly("layers.0.mlp.up_proj.weight", "layers.0.mlp.down_proj.weight");
  }

  @Test
  void namesAreKept() {
    assertThat(named(List.of("model.lm_head.weight"), List.of("/lm_head/MatMul")))
        .containsExactly("model.lm_head.weight");
  }

  @Test
  void usersWithoutAPathGiveNoName() {
    assertThat(named(List.of("onnx::MatMul_8"), List.of("MatMul_3")))
        .containsExactly("onnx::MatMul_8");
  }

  @Test
  void weightNamesAreUnique() {
    assertThat(
            named(
                List.of("onnx::MatMul_8", "onnx::MatMul_9"),
                List.of("/attention/MatMul", "/attention/MatMul_1")))
        .containsExactly("attention.weight", "onnx::MatMul_9");
  }
}
