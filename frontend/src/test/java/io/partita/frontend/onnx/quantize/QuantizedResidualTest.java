package io.partita.frontend.onnx.quantize;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.frontend.onnx.ModelSketch;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuantizedResidualTest {
  private static final int SIZE = 4;
  private static final TensorType ROWS = TensorType.of(ElementType.F32, 3, SIZE);

  @TempDir Path folder;

  /** Two blocks; the first product has a bias, and the last sum is the output. */
  private QuantizableModel model() {
    float[] numbers = new float[SIZE * SIZE];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = i % 5 - 2;
    }
    ModelSketch sketch =
        new ModelSketch(17)
            .input("x", ROWS)
            .initializer("w", Tensor.floats(Shape.of(SIZE, SIZE), numbers))
            .initializer("bias", Tensor.floats(Shape.of(SIZE), 1, 2, 3, 4))
            .node("", "MatMul", List.of("x", "w"), "first")
            .node("", "Add", List.of("first", "bias"), "biased")
            .node("", "Add", List.of("x", "biased"), "sum")
            .node("", "MatMul", List.of("sum", "w"), "second")
            .node("", "Add", List.of("second", "sum"), "y")
            .output("y", ROWS);
    return QuantizableModel.of(OnnxModel.read(sketch.written(folder)));
  }

  /** A bias isn't a skip connection, and what only leaves the model is read by no node. */
  @Test
  void findsSumsThatNodesRead() {
    List<ResidualSite> sites = model().residuals();
    assertThat(sites).extracting(ResidualSite::output).containsExactly("sum");
    assertThat(sites.getFirst().readers()).containsExactly(3, 4);
  }

  @Test
  void allReadersReadTheSameBytes() {
    QuantizableModel model = model();
    Affine code = Affine.of(-9, 9);
    ModelProto quantized =
        QuantizedGraph.of(
            model,
            Map.of(),
            Map.of(),
            List.of(),
            List.of(QuantizedGraph.ValueChoice.of(model.residuals().getFirst(), code)));
    List<NodeProto> nodes = quantized.getGraph().getNodeList();
    assertThat(nodes)
        .extracting(NodeProto::getOpType)
        .containsExactly(
            "MatMul", "Add", "Add", "QuantizeLinear", "DequantizeLinear", "MatMul", "Add");
    String bytes = nodes.get(4).getOutput(0);
    assertThat(nodes.get(5).getInput(0)).isEqualTo(bytes);
    assertThat(nodes.get(6).getInputList()).containsExactly("second", bytes);
  }
}
